/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_int: shared by the parts of top: top.c (lifetime, work), _keys, _draw and _tracks (timeline), and one file per panel. */
#ifndef FR_TOP_INT_H
#define FR_TOP_INT_H

#include "read/timeline/timeline.h"
#include "show/format/format_text.h"
#include "show/top/top.h"
#include "show/top/top_table.h"

#define FR_TOP_PROMPT_SZ 256u
#define FR_TOP_NOTE_SZ	 256u
#define FR_TOP_BACK_CNT	 32u
#define FR_TOP_MIN_W	 30u
#define FR_TOP_MIN_H	 8u

enum fr_top_panel {
	FR_TOP_CAUSE,
	FR_TOP_DETAILS,
	FR_TOP_EVENTS,
	FR_TOP_TASKS, /* from here on tables, in the order of fr_top_tables[] */
	FR_TOP_CPUS,
	FR_TOP_CALLS,
	FR_TOP_OFFCPU,
	FR_TOP_WAITS,
	FR_TOP_IRQS,
	FR_TOP_BLOCK,
	FR_TOP_FLAME,
	FR_TOP_HIST,
	FR_TOP_INFO,
	FR_TOP_PANEL_CNT
};

struct fr_top_panel_def {
	const char *name;
	const char *narrow; /* the tab's on a narrow screen */
	char key;
	void (*draw)(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
	bool (*key_fn)(struct fr_top *t, int key); /* true: the panel handled it. NULL: takes no keys */
};
extern const struct fr_top_panel_def fr_top_panels[FR_TOP_PANEL_CNT];

struct fr_top_track {
	bool is_cpu;
	u32 nr; /* index in the timeline's list */
};

enum fr_top_prompt { FR_TOP_NO_PROMPT, FR_TOP_SEARCH, FR_TOP_GOTO };

/* The position before a jump. */
struct fr_top_place {
	u64 from, to, cursor;
	u32 track, row;
};

/* Live: who was selected, and has no line in this snapshot; as long as the selection stays where it was put instead. */
struct fr_top_wanted {
	bool is_one, is_cpu;
	u32 nr;	      /* of the CPU; tid */
	u64 start_ns; /* of the task: a tid may be another one's by now */
	u32 instead;  /* the line */
};

struct fr_top_search; /* opaque */
struct fr_top_flame;  /* opaque */

/* Where the cursor is. */
struct fr_top_seat {
	u64 cursor;
	u32 selected, row;
};

/* What `report` says of the file. */
struct fr_top_cause {
	struct fr_aside *aside; /* finds it; NULL: not yet, or it has ended */
	bool asked;
	int error;
	char *text; /* malloc'ed */
	bool sits;  /* its panel was open last time, with the cursor there */
	struct fr_top_seat seat;
};

struct fr_top {
	const struct fr_top_ask *ask;
	struct fr_replay *replay;
	struct fr_timeline *tl;
	struct fr_tl_reader *reader;
	struct fr_frames *frames; /* NULL: show raw addresses */
	struct fr_text text;
	struct fr_out *out; /* for texts, in memory */
	int error;	    /* of loading */
	u32 width, height;
	bool light, help, lanes;
	u8 panel_size; /* 0 none, 1 a part, 2 all */
	/* the visible window, and the position in it */
	u64 from, to;
	u64 cursor;
	u64 mark;
	bool marked;
	u32 row; /* the selected event, FR_TL_NO_ROW */
	struct fr_top_track *track;
	u32 track_cnt, selected, first; /* selected, and the first on the screen */
	/* panels */
	enum fr_top_panel panel;
	bool in_panel;	 /* keys go to the panel */
	u32 scroll;	 /* of a text panel */
	u32 events_mode; /* 0 of the track, 1 all, 2 search results */
	struct fr_top_job *job;
	struct fr_top_cause cause;
	struct fr_top_search *search;
	struct fr_top_flame *flame;
	struct fr_top_view table[FR_TOP_FLAME - FR_TOP_TASKS]; /* how each table is shown */
	/* a line being typed, and the note shown instead */
	enum fr_top_prompt prompt;
	char typed[FR_TOP_PROMPT_SZ];
	char note[FR_TOP_NOTE_SZ];
	struct fr_top_place back[FR_TOP_BACK_CNT];
	u32 back_cnt;
	struct fr_top_wanted wanted;
	struct fr_tl_col *col; /* of one line: width columns */
	struct fr_tl_cover *cover;
};

/* ---- layout (top_draw.c) ---- */

struct fr_top_layout {
	u32 label_w;	      /* the timeline begins there */
	u32 line_w;	      /* columns of the timeline */
	u32 tracks_y, tabs_y; /* tracks: [tracks_y, tabs_y) */
	u32 panel_y, panel_end;
	u32 track_h;
};
struct fr_top_layout fr_top_layout(const struct fr_top *t);
u32 fr_top_tab_at(const struct fr_top *t, u32 x); /* the panel whose tab is there, FR_TOP_PANEL_CNT: none */

/* ---- moving (top_move.c) ---- */

void fr_top_note(struct fr_top *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fr_top_window(struct fr_top *t, u64 from, u64 to); /* show this, clamped to what exists */
void fr_top_move_to(struct fr_top *t, u64 at);		/* the cursor, and the window if necessary */
void fr_top_select_row(struct fr_top *t, u32 row);	/* an event: moves the cursor there */
void fr_top_remember(struct fr_top *t);
void fr_top_find_row(struct fr_top *t);				  /* select the event at the cursor */
u32 fr_top_track_of(const struct fr_top *t, bool is_cpu, u32 nr); /* track_cnt: none */
const struct fr_tl_rows *fr_top_rows(const struct fr_top *t);	  /* of the selected track; NULL: there is none */
bool fr_top_run_prompt(struct fr_top *t);			  /* execute what was typed; false: more input is needed */

void fr_top_zoom(struct fr_top *t, bool in);
void fr_top_pan(struct fr_top *t, bool right, u32 part); /* by a part of the window */
void fr_top_step(struct fr_top *t, bool right);		 /* the cursor, by one column */
void fr_top_mark(struct fr_top *t);
void fr_top_pause(struct fr_top *t); /* live: or go on */
void fr_top_zoom_to_mark(struct fr_top *t);
void fr_top_go_to_trigger(struct fr_top *t);
void fr_top_go_to_waker(struct fr_top *t);
void fr_top_go_back(struct fr_top *t);
/* The index of the selected event in a list of events (NULL: of all), or of the event after it. */
u32 fr_top_place_of(const struct fr_top *t, const struct fr_tl_rows *rows);
void fr_top_next_event(struct fr_top *t, bool forward, bool all);
void fr_top_move_track(struct fr_top *t, s32 by);

void fr_top_first_window(const struct fr_top *t, u64 *from, u64 *to); /* the one that it opens with */

/* ---- drawing ---- */

/* Each fills its part of the grid: what the layout says, or lines y to end (exclusive). */
void fr_top_draw_tracks(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l);
void fr_top_draw_help(struct fr_top *t, struct fr_grid *g);
void fr_top_details(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_events(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_table_draw(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_cause_draw(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_hist(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_info(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
void fr_top_flame(struct fr_top *t, struct fr_grid *g, u32 y, u32 end);
/* A key for what is shown there. False: it has no meaning there. */
bool fr_top_events_key(struct fr_top *t, int key);
bool fr_top_table_key(struct fr_top *t, int key);
bool fr_top_flame_key(struct fr_top *t, int key);
bool fr_top_scroll_key(struct fr_top *t, int key);

/* The line that replay prints for an event, without its newline: freed by the caller. NULL: it cannot be read. */
char *fr_top_line(struct fr_top *t, u32 nr, size_t *sz);

/* A readable time: since the begin, or relative to the trigger. Returns buf, which has 48 bytes. */
const char *fr_top_when(const struct fr_top *t, u64 at, char *buf);
const char *fr_top_span(u64 ns, char *buf); /* 1.25 ms; of 32 bytes */
/* "nginx 123", after "host:" if there are several hosts. Returns the next column. */
u32 fr_top_put_task(const struct fr_top *t, struct fr_grid *g, u32 x, u32 y, u32 end, u32 task, enum fr_ink ink);
u32 fr_top_put_cpu(const struct fr_top *t, struct fr_grid *g, u32 x, u32 y, u32 end, u32 cpu, enum fr_ink ink);
const char *fr_top_title(const struct fr_top *t); /* the session, or the file's name */
extern const u32 fr_top_bars[9];		  /* none, then an eighth more each */

struct fr_top_state {
	const char *name, *legend;
	u32 rich, plain; /* characters, with colours and without */
	enum fr_ink ink;
};
extern const struct fr_top_state fr_top_states[FR_TL_STATE_CNT];
const char *fr_top_call_name(const struct fr_top *t, u32 boot, u32 what, char buf[FR_SYSNAME_CALL_SZ]);
const char *fr_top_irq_name(const struct fr_top *t, u32 what, u32 row, char *buf); /* of 48 bytes */

/* The tables computed last, perhaps for another window; NULL: none yet. */
const struct fr_an_result *fr_top_result(const struct fr_top *t);

/* ---- search (top_search.c) ---- */

/* Search, and go to the first match after the cursor. Errors become the note. */
void fr_top_search_new(struct fr_top *t, const char *text);
void fr_top_search_free(struct fr_top *t);
void fr_top_search_go(struct fr_top *t, int dir);
int fr_top_search_work(struct fr_top *t);				       /* 1: there is more */
const struct fr_tl_rows *fr_top_matches(const struct fr_top *t);	       /* NULL: no search */
const char *fr_top_search_state(const struct fr_top *t, char *buf, size_t sz); /* "37 found" */

/* ---- flame graph (top_flame.c) ---- */

void fr_top_flame_free(struct fr_top *t);
int fr_top_flame_work(struct fr_top *t); /* 1: there is more */

/* ---- the verdict of `report` (top_cause.c) ---- */

bool fr_top_cause_opens(const struct fr_top *t); /* is it what is shown first? */
void fr_top_cause_begin(struct fr_top *t);	 /* if its panel is open */
void fr_top_cause_leave(struct fr_top *t);	 /* if the cursor has moved */
int fr_top_cause_work(struct fr_top *t);	 /* 1: it is there now */
void fr_top_cause_free(struct fr_top *t);

#endif
