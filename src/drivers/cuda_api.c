/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the CUDA runtime (see cuda_api.h): the library that ORRERY_CUDART names, else the one of
 * the toolkit that this library was built with. Without a toolkit, and without that variable,
 * nothing is looked for, so that programs that do not use CUDA do not pay for it.
 *
 * Invariant: the library stays loaded: threads of its own may be in it at any time. */
#include "drivers/cuda_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <starpu.h>

#include "base/config.h"
#include "base/log.h"

#define OLDEST 12000
#define NEWEST 13999

/* Is there anything that CUDA might drive? Asking is much cheaper than loading the library. */
static int has_device_files(void)
{
	return !access("/dev/nvidiactl", F_OK) || !access("/dev/nvhost-ctrl", F_OK) ||
	       !access("/dev/dxg", F_OK);
}

static void *open_library(const struct orr_config *cfg)
{
	void *library = NULL;

	if (cfg->cudart) {
		library = dlopen(cfg->cudart, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			orr_warn("ORRERY_CUDART: %s; there are no CUDA workers", dlerror());
		return library;
	}
#ifdef STARPU_USE_CUDA
	char name[32];

	snprintf(name, sizeof(name), "libcudart.so.%d", CUDART_VERSION / 1000);
	if (has_device_files())
		library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	else
		return NULL;
	if (!library)
		orr_warn(
			"%s; there are no CUDA workers: let LD_LIBRARY_PATH or ORRERY_CUDART lead to it",
			dlerror());
#else
	(void) has_device_files;
#endif
	return library;
}

/* The function of that name, or NULL after a message. */
static void *find(struct orr_cu_api *api, const char *name)
{
	void *f = dlsym(api->library, name);

	if (!f)
		orr_warn("the CUDA runtime has no %s, so there are no CUDA workers", name);
	return f;
}

/* Through a union: ISO C knows no conversion from a pointer to data. */
#define FIND(FIELD, NAME) \
	do { \
		union { \
			void *p; \
			__typeof__(api->FIELD) f; \
		} u = { find(api, NAME) }; \
		api->FIELD = u.f; \
		ok = ok && u.p; \
	} while (0)

static int find_all(struct orr_cu_api *api)
{
	int ok = 1;

#define X(FIELD, NAME, ARGS) FIND(FIELD, NAME);
	ORR_CU_FUNCTIONS(X)
#undef X
	FIND(text, "cudaGetErrorString");
	return ok;
}

static int find_properties(struct orr_cu_api *api)
{
	int ok = 1;

	if (api->version >= 13000)
		FIND(properties, "cudaGetDeviceProperties");
	else
		FIND(properties, "cudaGetDeviceProperties_v2");
	return ok;
}

int orr_cu_load(const struct orr_config *cfg, struct orr_cu_api *api)
{
	*api = (struct orr_cu_api){ .library = open_library(cfg) };
	if (!api->library)
		return -ENOENT;
	if (!find_all(api) || api->runtime_version(&api->version) != ORR_CU_SUCCESS)
		return -ENODEV;
	if (api->version < OLDEST || api->version > NEWEST) {
		orr_warn(
			"the CUDA runtime is version %d.%d, this library knows 12 and 13: there are no CUDA workers",
			api->version / 1000, api->version % 1000 / 10);
		return -ENODEV;
	}
	return find_properties(api) ? 0 : -ENODEV;
}
