/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A map from 64-bit keys to objects that hold their own key: open addressing over an array of
 * pointers.
 *
 * An entry costs 12 bytes (16 to 32 with the free slots): the key is read from the object at a
 * fixed offset, because the memory per entry is multiplied by the number of simulated ranks. With
 * each pointer, in the same line of the cache, come 32 bits of the key's hash, so that a search
 * touches one line of the table and no object but the one that it finds: in large simulations each
 * other one is a miss of the cache. Deletion shifts entries
 * back, so there are no tombstones and a map that shrank is as fast as a new one. Several objects
 * may have the same key. An empty map owns no memory.
 *
 * Invariant: every object lies between its key's home slot and the next free slot; an object's key
 * does not change while it is in the map. (Of both, what is asserted is that no object is found
 * twice.) No locking: the owner of the map does it. */
#ifndef ORR_BASE_MAP_H
#define ORR_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct orr_map_slot {
	uint32_t hash; /* 0: free */
	char obj[sizeof(void *)];
};

struct orr_map {
	struct orr_map_slot *slots; /* cap of them */
	uint32_t cap;               /* 0 or a power of two */
	uint32_t n;
	uint32_t key_offset; /* of the uint64_t key in each object */
};

#define ORR_MAP_START UINT32_MAX

void orr_map_init(struct orr_map *m, size_t key_offset);
/* Frees the table; the objects are the caller's. */
void orr_map_exit(struct orr_map *m);
/* 0 or -ENOMEM. The object must not be in the map yet. */
int orr_map_insert(struct orr_map *m, void *obj);
/* The next object of that key; *cursor is ORR_MAP_START before the first call. NULL after the last
 * one. */
void *orr_map_find_next(const struct orr_map *m, uint64_t key, uint32_t *cursor);
/* Puts `obj` where `old`, of the same key, was. */
void orr_map_replace(struct orr_map *m, void *old, void *obj);
/* Takes the object out; nothing happens when it is not in. */
void orr_map_remove(struct orr_map *m, void *obj);

/* The object in slot i of the cap ones, or NULL: for walks over all of them. */
static inline void *orr_map_at(const struct orr_map *m, uint32_t i)
{
	void *obj;

	memcpy(&obj, m->slots[i].obj, sizeof(obj));
	return obj;
}

static inline void *orr_map_find(const struct orr_map *m, uint64_t key)
{
	uint32_t cursor = ORR_MAP_START;
	return m->n ? orr_map_find_next(m, key, &cursor) : NULL;
}

/* Mixes a value so that all its bits matter in all of the result's. */
static inline uint64_t orr_mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

#endif
