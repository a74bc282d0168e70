/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the devices that OpenCL drives, and prepares them (see opencl.h).
 *
 * Devices that compute on CPUs (PoCL's) are used if STARPU_OPENCL_ON_CPUS or
 * STARPU_OPENCL_ONLY_ON_CPUS says so. Loading PoCL takes a tenth of a second, which a program that
 * does not use it shall not pay: where nothing but PoCL is registered, and CPUs are not asked for,
 * OpenCL is not called at all.
 *
 * Invariant: what orr_opencl_devices() returned is complete, with queues; nothing else is kept. */
#include "drivers/opencl_own.h"

#ifdef STARPU_HAVE_HWLOC
#include <hwloc/opencl.h>
#endif
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "drivers/choice.h"
#include "drivers/limit.h"

#define VENDORS "/etc/OpenCL/vendors"
#define MAXPLATFORMS 16
#define MAXFOUND 64

/* ---- what is there ---- */

static int names_pocl(const char *file)
{
	char path[512], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), VENDORS "/%s", file);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	return strstr(line, "pocl") != NULL;
}

/* Nothing but PoCL is registered on this machine. */
static int only_pocl(void)
{
	DIR *dir = getenv("OCL_ICD_VENDORS") || getenv("OCL_ICD_FILENAMES") ? NULL
									    : opendir(VENDORS);
	struct dirent *e;
	int only = 1;

	if (!dir)
		return 0;
	while (only && (e = readdir(dir)))
		only = !strstr(e->d_name, ".icd") || names_pocl(e->d_name);
	closedir(dir);
	return only;
}

static cl_device_type wanted_types(const struct orr_config *cfg)
{
	if (cfg->opencl_only_on_cpus)
		return CL_DEVICE_TYPE_CPU;
	return CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
	       (cfg->opencl_on_cpus ? CL_DEVICE_TYPE_CPU : 0);
}

/* A device, cut into n equal parts if it can be. Appends to v. */
static void add_parts(cl_device_id id, unsigned n, cl_device_id *v, cl_uint *nfound)
{
	cl_uint units = 0, most = 0, got = 0;

	clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	if (n > 1 && units >= n) {
		cl_device_partition_property cut[] = { CL_DEVICE_PARTITION_EQUALLY,
						       (cl_device_partition_property) (units / n),
						       0 };

		if (clCreateSubDevices(id, cut, MAXFOUND - *nfound, v + *nfound, &got) ==
		    CL_SUCCESS) {
			*nfound += got;
			return;
		}
		clGetDeviceInfo(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(most), &most, NULL);
		orr_warn(
			"ORRERY_OPENCL_PARTS=%u: this device cannot be cut into that many parts%s, and is used as a whole",
			n, most < 2 ? " (its driver cuts none)" : "");
	}
	v[(*nfound)++] = id;
}

/* All devices of these types, in the order of platforms. */
static cl_uint find(const struct orr_config *cfg, cl_device_id *v)
{
	cl_platform_id platform[MAXPLATFORMS];
	cl_uint nplatforms = 0, n = 0;

	if (clGetPlatformIDs(MAXPLATFORMS, platform, &nplatforms) != CL_SUCCESS)
		return 0;
	for (cl_uint p = 0; p < nplatforms && p < MAXPLATFORMS; p++) {
		cl_device_id ids[MAXFOUND];
		cl_uint here = 0;

		if (clGetDeviceIDs(platform[p], wanted_types(cfg), MAXFOUND, ids, &here) !=
		    CL_SUCCESS)
			continue;
		for (cl_uint i = 0; i < here && n < MAXFOUND; i++)
			add_parts(ids[i], (unsigned) cfg->opencl_parts, v, &n);
	}
	return n;
}

/* ---- which of them ---- */

/* Gives back those that are parts of devices; it does nothing to others. */
static void give_back(const cl_device_id *v, cl_uint n)
{
	for (cl_uint i = 0; i < n; i++)
		if (v[i])
			clReleaseDevice(v[i]);
}

/* Keeps of the n devices those that the program names, in its order; *n is 0 if it returns -errno.
 */
static int choose(const struct orr_process *proc, cl_device_id *v, cl_uint *n)
{
	const struct starpu_conf *conf = proc->conf;
	const struct orr_choice choice = {
		.kind = "OpenCL",
		.variable = "STARPU_WORKERS_OPENCLID",
		.list = proc->cfg->workers_openclid,
		.field_name = "workers_opencl_gpuid",
		.field = conf->use_explicit_workers_opencl_gpuid ? conf->workers_opencl_gpuid
								 : NULL,
	};
	unsigned id[MAXFOUND];
	cl_device_id found[MAXFOUND];
	int k = orr_devices_choose(proc, &choice, *n, id, MAXFOUND);

	memcpy(found, v, *n * sizeof(*v));
	for (int i = 0; i < k; i++) {
		v[i] = found[id[i]];
		found[id[i]] = NULL;
	}
	give_back(found, *n);
	*n = k < 0 ? 0 : (cl_uint) k;
	return k < 0 ? k : 0;
}

/* ---- preparing them ---- */

static cl_int make_queues(struct orr_cl_device *d)
{
	cl_int err;

	d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &err);
	if (err == CL_SUCCESS)
		d->kernels = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE,
						  &err);
	if (err == CL_SUCCESS)
		d->in = clCreateCommandQueue(d->context, d->id, 0, &err);
	if (err == CL_SUCCESS)
		d->out = clCreateCommandQueue(d->context, d->id, 0, &err);
	return err;
}

/* [waits] A thread of OpenCL's may be about to ring. */
static void await_rings(struct orr_cl_device *d)
{
	while (ORR_ATOMIC_LOAD(&d->nringing))
		orr_sys_sleep_us(50);
}

static void release(struct orr_cl_device *d)
{
	cl_command_queue *queue[] = { &d->kernels, &d->in, &d->out };

	for (unsigned i = 0; i < 3; i++) {
		if (*queue[i]) {
			clFinish(*queue[i]);
			clReleaseCommandQueue(*queue[i]);
		}
	}
	await_rings(d);
	if (d->context)
		clReleaseContext(d->context);
	if (d->is_part)
		clReleaseDevice(d->id);
	memset(d, 0, sizeof(*d));
}

static size_t memory_of(const struct orr_process *proc, cl_device_id id, int devid)
{
	cl_ulong bytes = 0;
	size_t limit = orr_limit_of_device("OPENCL", devid, proc->cfg->limit_opencl_mem);

	clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	/* The driver needs some for itself. */
	bytes -= bytes / 10;
	return limit && limit < bytes ? limit : (size_t) bytes;
}

static int prepare(struct orr_process *proc, struct orr_cl_device *d, cl_device_id id, int devid)
{
	cl_device_id parent = NULL;
	cl_int err;

	*d = (struct orr_cl_device){ .proc = proc, .id = id };
	clGetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL);
	d->is_part = parent != NULL;
	clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(d->name), d->name, NULL);
	d->name[sizeof(d->name) - 1] = 0;
	d->memory = memory_of(proc, id, devid);
	err = make_queues(d);
	if (err == CL_SUCCESS)
		return 0;
	orr_warn("OpenCL device %d (%s) cannot be used: %s", devid, d->name, orr_cl_text(err));
	release(d);
	return -ENODEV;
}

/* Fills in the place on the PCI bus if the driver tells it. */
static void find_bus_id(cl_device_id id, struct orr_device *v)
{
#ifdef STARPU_HAVE_HWLOC
	unsigned domain, bus, dev, func;

	if (!hwloc_opencl_get_device_pci_busid(id, &domain, &bus, &dev, &func))
		snprintf(v->bus_id, sizeof(v->bus_id), "%04x:%02x:%02x.%01x", domain & 0xffff,
			 bus & 0xff, dev & 0xff, func & 0xf);
#else
	(void) id;
	(void) v;
#endif
}

static void describe(const struct orr_process *proc, struct orr_cl_device *d, int devid,
		     struct orr_device *v)
{
	*v = (struct orr_device){
		.arch = STARPU_OPENCL_WORKER,
		.kind = STARPU_OPENCL_RAM,
		.devid = devid,
		.nworkers = 1,
		.pipeline = (unsigned) proc->cfg->opencl_pipeline,
		.memory = d->memory,
		.memory_ops = &orr_cl_memory,
		.memory_arg = d,
		.driver = &orr_cl_driver,
		.driver_arg = d,
	};
	snprintf(v->name, sizeof(v->name), "OpenCL %d (%.16s)", devid, d->name);
	find_bus_id(d->id, v);
}

int orr_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	const struct orr_config *cfg = proc->cfg;
	cl_device_id id[MAXFOUND];
	int cpus = cfg->opencl_on_cpus || cfg->opencl_only_on_cpus, ret;

	if (!max || !orr_sys_drives_devices() || (!cpus && only_pocl()))
		return 0;
	cl_uint n = find(cfg, id);
	ret = choose(proc, id, &n);
	struct orr_opencl *cl = n && !ret ? calloc(1, sizeof(*cl)) : NULL;
	if (ret || !n)
		return ret;
	if (!cl) {
		give_back(id, n);
		return -ENOMEM;
	}
	orr_lock_init(&cl->lock, ORR_RANK_OPENCL);
	proc->opencl = cl;
	if (max > STARPU_MAXOPENCLDEVS)
		max = STARPU_MAXOPENCLDEVS;
	cl_uint i = 0;
	for (; i < n && cl->ndevices < max; i++) {
		struct orr_cl_device *d = &cl->device[cl->ndevices];

		if (prepare(proc, d, id[i], (int) cl->ndevices))
			continue;
		describe(proc, d, (int) cl->ndevices, &v[cl->ndevices]);
		cl->ndevices++;
	}
	give_back(id + i, n - i);
	return (int) cl->ndevices;
}

void orr_opencl_settle(struct orr_process *proc)
{
	for (unsigned i = 0; proc->opencl && i < proc->opencl->ndevices; i++)
		await_rings(&proc->opencl->device[i]);
}

void orr_opencl_exit(struct orr_process *proc)
{
	struct orr_opencl *cl = proc->opencl;
	struct orr_cl_kernel *k;

	if (!cl)
		return;
	while ((k = cl->kernels)) {
		cl->kernels = k->next;
		clReleaseKernel(k->kernel);
		free(k->name);
		free(k);
	}
	for (unsigned i = 0; i < cl->ndevices; i++)
		release(&cl->device[i]);
	free(cl);
	proc->opencl = NULL;
}
