/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps of objects that hold their own key: linear probing with backward-shift deletion (contract:
 * map.h).
 *
 * Invariant: at most three quarters of the slots are in use, so every probe ends. */
#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/map.h"

#define SMALLEST 8

static inline uint64_t key_of(const struct orr_map *m, const void *obj)
{
	return *(const uint64_t *) ((const char *) obj + m->key_offset);
}

/* The part of a key's hash that is kept: never 0, which marks free slots. */
static inline uint32_t hash_of(uint64_t key)
{
	return (uint32_t) orr_mix64(key) | 1U << 31;
}

_Static_assert(sizeof(struct orr_map_slot) == sizeof(uint32_t) + sizeof(void *),
	       "slots of a map lie densely");

static inline void set(struct orr_map *m, uint32_t i, void *obj, uint32_t hash)
{
	m->slots[i].hash = hash;
	memcpy(m->slots[i].obj, &obj, sizeof(obj));
}

void orr_map_init(struct orr_map *m, size_t key_offset)
{
	*m = (struct orr_map){ .key_offset = (uint32_t) key_offset };
}

void orr_map_exit(struct orr_map *m)
{
	free(m->slots);
	orr_map_init(m, m->key_offset);
}

static void place(struct orr_map *m, void *obj, uint32_t hash)
{
	uint32_t i = hash & (m->cap - 1);

	orr_assert(m->n < m->cap); /* the probe ends */
	while (m->slots[i].hash)
		i = (i + 1) & (m->cap - 1);
	set(m, i, obj, hash);
}

static int grow(struct orr_map *m)
{
	struct orr_map bigger = *m;

	orr_assert(m->cap < 1U << 31);
	bigger.cap = m->cap ? m->cap * 2 : SMALLEST;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->cap; i++)
		if (m->slots[i].hash)
			place(&bigger, orr_map_at(m, i), m->slots[i].hash);
	free(m->slots);
	*m = bigger;
	return 0;
}

/* The slot of an object, or cap. */
static uint32_t slot_of(const struct orr_map *m, const void *obj)
{
	if (!m->n)
		return m->cap;
	const uint32_t hash = hash_of(key_of(m, obj));
	for (uint32_t i = hash & (m->cap - 1); m->slots[i].hash; i = (i + 1) & (m->cap - 1))
		if (m->slots[i].hash == hash && orr_map_at(m, i) == obj)
			return i;
	return m->cap;
}

int orr_map_insert(struct orr_map *m, void *obj)
{
	orr_assertf(slot_of(m, obj) == m->cap, "an object is inserted twice");
	if ((m->n + 1) * 4ULL > m->cap * 3ULL) {
		int ret = grow(m);
		if (ret)
			return ret;
	}
	place(m, obj, hash_of(key_of(m, obj)));
	m->n++;
	orr_assert(m->n * 4ULL <= m->cap * 3ULL);
	return 0;
}

void *orr_map_find_next(const struct orr_map *m, uint64_t key, uint32_t *cursor)
{
	if (!m->cap)
		return NULL;
	const uint32_t hash = hash_of(key);
	uint32_t i = (*cursor == ORR_MAP_START ? hash : *cursor + 1) & (m->cap - 1);
	for (; m->slots[i].hash; i = (i + 1) & (m->cap - 1)) {
		void *obj = orr_map_at(m, i);

		if (m->slots[i].hash == hash && key_of(m, obj) == key) {
			*cursor = i;
			return obj;
		}
	}
	return NULL;
}

void orr_map_replace(struct orr_map *m, void *old, void *obj)
{
	uint32_t i = slot_of(m, old);

	orr_assertf(key_of(m, old) == key_of(m, obj),
		    "an object is replaced by one of another key");
	if (i < m->cap)
		set(m, i, obj, m->slots[i].hash);
}

void orr_map_remove(struct orr_map *m, void *obj)
{
	uint32_t hole = slot_of(m, obj), mask = m->cap - 1;

	if (hole >= m->cap)
		return;
	m->n--;
	for (uint32_t i = (hole + 1) & mask; m->slots[i].hash; i = (i + 1) & mask) {
		/* The entry may move back unless its home lies behind the hole. */
		if (((i - m->slots[i].hash) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct orr_map_slot){ 0 };
	orr_assertf(slot_of(m, obj) == m->cap, "an object was in the map twice");
}
