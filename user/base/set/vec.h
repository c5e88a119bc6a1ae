/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vec: arrays that grow. Two forms, since a struct that others read by index has a typed pointer and a count already:
 *
 *	struct fr_vec		items of one size, owned
 *	fr_vec_more(&p, cnt)	one more item of a plain array, whose room follows from its count: the next power of two
 *	fr_vec_upto(&p, cnt, n)	a plain array by number, such as of CPUs, with n items: new ones are zero
 */
#ifndef FR_VEC_H
#define FR_VEC_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fr_vec {
	void *at;
	size_t cnt, cap, item_sz;
};

/* Room for cnt items behind those that are there, which are not counted yet; NULL: no memory, and nothing has changed. */
static inline void *fr_vec_room(struct fr_vec *v, size_t cnt)
{
	size_t cap = 2 * (v->cnt + cnt), most = ~(size_t)0 / 2 / v->item_sz;
	void *p;

	if (cnt > most || v->cnt > most - cnt)
		return NULL;
	if (v->cnt + cnt > v->cap || !v->at) {
		p = realloc(v->at, (cap ? cap : 1) * v->item_sz);
		if (!p)
			return NULL;
		v->at = p;
		v->cap = cap;
	}
	return (char *)v->at + v->cnt * v->item_sz;
}

/* Add copies of cnt items. 0 or -ENOMEM. */
static inline int fr_vec_add(struct fr_vec *v, const void *items, size_t cnt)
{
	void *to = fr_vec_room(v, cnt);

	if (!to)
		return -ENOMEM;
	if (cnt)
		memcpy(to, items, cnt * v->item_sz);
	v->cnt += cnt;
	return 0;
}

/* Make cnt malloc'ed items those of an empty one. */
static inline void fr_vec_own(struct fr_vec *v, void *items, size_t cnt)
{
	v->at = items;
	v->cnt = v->cap = cnt;
}

static inline void fr_vec_free(struct fr_vec *v)
{
	free(v->at);
	*v = (struct fr_vec){.item_sz = v->item_sz};
}

/* For fr_vec_more(). */
static inline void *fr_vec_more_of(void *array, size_t cnt, size_t item_sz)
{
	char *p;

	memcpy(&p, array, sizeof(p));
	if (!(cnt & (cnt - 1))) { /* 0 or a power of two: it is full */
		p = cnt > ~(size_t)0 / 2 / item_sz ? NULL : realloc(p, (cnt ? 2 * cnt : 1) * item_sz);
		if (!p)
			return NULL;
		memcpy(array, &p, sizeof(p));
	}
	return p + cnt * item_sz;
}

/*
 * Room for one more item of *array, of which all cnt were added like this; the caller fills and counts it. Returns its address;
 * NULL: no memory, and the array is as it was.
 */
#define fr_vec_more(array, cnt) ((__typeof__(*(array)))fr_vec_more_of((array), (cnt), sizeof(**(array))))

/* For fr_vec_upto(). */
static inline int fr_vec_upto_of(void *array, size_t cnt, size_t want, size_t item_sz)
{
	char *p;

	if (want <= cnt)
		return 0;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, want * item_sz);
	if (!p)
		return -ENOMEM;
	memset(p + cnt * item_sz, 0, (want - cnt) * item_sz);
	memcpy(array, &p, sizeof(p));
	return 0;
}

/* Let *array, of cnt items, have at least want, new ones all zero; the caller counts them. 0, or -ENOMEM: it is as it was. */
#define fr_vec_upto(array, cnt, want) fr_vec_upto_of((array), (cnt), (want), sizeof(**(array)))

#endif
