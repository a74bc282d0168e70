/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs and kernels of OpenCL, compiled for each device of the process.
 *
 * Where the process has no device that OpenCL drives, as in a simulated run, there is nothing to
 * compile: programs are read, and loaded for no device. Kernels are kept when they are released,
 * and given out again.
 *
 * Invariant: a kernel in the list belongs to the caller that loaded it while it is used, else to
 * the list. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/private.h"
#include "drivers/opencl_own.h"

/* ---- source files ---- */

/* The file in the current directory, or in $STARPU_OPENCL_PROGRAM_DIR. 0, or -1. */
static int locate(const char *name, char *path, size_t size)
{
	const char *dir = getenv("STARPU_OPENCL_PROGRAM_DIR");

	snprintf(path, size, "%s", name);
	if (!access(path, R_OK))
		return 0;
	if (!dir || name[0] == '/')
		return -1;
	snprintf(path, size, "%s/%s", dir, name);
	return access(path, R_OK);
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	long n;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET) &&
	    (text = malloc((size_t) n + 1)))
		text[fread(text, 1, (size_t) n, f)] = 0;
	fclose(f);
	return text;
}

void starpu_opencl_load_program_source_malloc(const char *source_file_name,
					      char **located_file_name, char **located_dir_name,
					      char **opencl_program_source)
{
	char path[PATH_MAX];

	if (locate(source_file_name, path, sizeof(path)))
		orr_fatal(
			"the OpenCL program %s is not found: start in its directory, or name that in STARPU_OPENCL_PROGRAM_DIR",
			source_file_name);
	*opencl_program_source = read_whole(path);
	*located_file_name = strdup(path);
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
	*located_dir_name = strdup(slash ? path : "");
	if (!*opencl_program_source || !*located_file_name || !*located_dir_name)
		orr_fatal("the OpenCL program %s cannot be read: %s", source_file_name,
			  strerror(errno));
}

void starpu_opencl_load_program_source(const char *source_file_name, char *located_file_name,
				       char *located_dir_name, char *opencl_program_source)
{
	char *file, *dir, *source;

	starpu_opencl_load_program_source_malloc(source_file_name, &file, &dir, &source);
	strcpy(located_file_name, file);
	strcpy(located_dir_name, dir);
	strcpy(opencl_program_source, source);
	free(file);
	free(dir);
	free(source);
}

/* ---- compiling ---- */

static void print_log(const struct orr_cl_device *d, cl_program program, const char *what)
{
	size_t size = 0;
	char *text;

	clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	text = calloc(1, size + 1);
	if (text)
		clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, text, NULL);
	orr_error("%s cannot be compiled for OpenCL device %s:\n%s", what, d->name,
		  text ? text : "");
	free(text);
}

/* Builds what has a source or a binary. NULL after a message. */
static cl_program build(const struct orr_cl_device *d, cl_program program, cl_int err,
			const char *options, const char *what)
{
	if (err != CL_SUCCESS) {
		orr_error("%s cannot be loaded for OpenCL device %s: %s", what, d->name,
			  orr_cl_text(err));
		return NULL;
	}
	err = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
	if (err == CL_SUCCESS)
		return program;
	print_log(d, program, what);
	clReleaseProgram(program);
	return NULL;
}

static cl_program compile(const struct orr_cl_device *d, const char *source, const char *options,
			  const char *what)
{
	cl_int err;
	cl_program p = clCreateProgramWithSource(d->context, 1, &source, NULL, &err);

	return build(d, p, err, options, what);
}

static int load(const char *source, struct starpu_opencl_program *programs, const char *options,
		const char *what)
{
	struct orr_opencl *cl = orr_self()->opencl;

	memset(programs, 0, sizeof(*programs));
	for (unsigned i = 0; cl && i < cl->ndevices; i++) {
		programs->programs[i] = compile(&cl->device[i], source, options, what);
		if (!programs->programs[i])
			orr_fatal("%s has no program for OpenCL device %u", what, i);
	}
	return CL_SUCCESS;
}

int starpu_opencl_load_opencl_from_string(const char *opencl_program_source,
					  struct starpu_opencl_program *opencl_programs,
					  const char *build_options)
{
	return load(opencl_program_source, opencl_programs, build_options, "an OpenCL program");
}

/* The options, and the directory of the file for what it includes. */
static void add_directory(char *out, size_t size, const char *options, const char *dir)
{
	snprintf(out, size, "%s%s-I %s", options ? options : "", options ? " " : "",
		 *dir ? dir : ".");
}

int starpu_opencl_load_opencl_from_file(const char *source_file_name,
					struct starpu_opencl_program *opencl_programs,
					const char *build_options)
{
	char *file, *dir, *source, options[2 * PATH_MAX];

	starpu_opencl_load_program_source_malloc(source_file_name, &file, &dir, &source);
	add_directory(options, sizeof(options), build_options, dir);
	int ret = load(source, opencl_programs, options, file);
	free(file);
	free(dir);
	free(source);
	return ret;
}

/* ---- kernels ---- */

static void forget_kernels(struct orr_opencl *cl, cl_program program)
{
	struct orr_cl_kernel **p = &cl->kernels, *k;

	orr_lock(&cl->lock);
	while ((k = *p)) {
		if (k->program != program) {
			p = &k->next;
			continue;
		}
		*p = k->next;
		clReleaseKernel(k->kernel);
		free(k->name);
		free(k);
	}
	orr_unlock(&cl->lock);
}

int starpu_opencl_unload_opencl(struct starpu_opencl_program *opencl_programs)
{
	struct orr_opencl *cl = orr_self()->opencl;

	for (unsigned i = 0; i < STARPU_MAXOPENCLDEVS; i++) {
		cl_program p = opencl_programs->programs[i];

		if (!p)
			continue;
		if (cl)
			forget_kernels(cl, p);
		clReleaseProgram(p);
		opencl_programs->programs[i] = NULL;
	}
	return CL_SUCCESS;
}

/* A kernel of that name that nobody uses, or NULL. */
static cl_kernel reuse(struct orr_opencl *cl, cl_program program, const char *name)
{
	struct orr_cl_kernel *k;

	orr_lock(&cl->lock);
	for (k = cl->kernels; k; k = k->next)
		if (!k->used && k->program == program && !strcmp(k->name, name))
			break;
	if (k)
		k->used = 1;
	orr_unlock(&cl->lock);
	return k ? k->kernel : NULL;
}

static cl_int make_kernel(struct orr_opencl *cl, cl_program program, const char *name,
			  cl_kernel *kernel)
{
	struct orr_cl_kernel *k = calloc(1, sizeof(*k));
	cl_int err = CL_OUT_OF_HOST_MEMORY;

	if (k && (k->name = strdup(name)))
		*kernel = k->kernel = clCreateKernel(program, name, &err);
	if (err != CL_SUCCESS) {
		free(k ? k->name : NULL);
		free(k);
		return err;
	}
	k->program = program;
	k->used = 1;
	orr_lock(&cl->lock);
	k->next = cl->kernels;
	cl->kernels = k;
	orr_unlock(&cl->lock);
	return CL_SUCCESS;
}

int starpu_opencl_load_kernel(cl_kernel *kernel, cl_command_queue *queue,
			      struct starpu_opencl_program *opencl_programs,
			      const char *kernel_name, int devid)
{
	struct orr_cl_device *d = orr_cl_device(devid, __func__);
	cl_program program = d ? opencl_programs->programs[devid] : NULL;
	cl_int err = CL_SUCCESS;

	if (!d)
		return CL_INVALID_DEVICE;
	if (queue)
		*queue = d->kernels;
	if (!program) {
		orr_error("kernel %s: its program was not loaded for OpenCL device %d", kernel_name,
			  devid);
		return CL_INVALID_PROGRAM;
	}
	*kernel = reuse(d->proc->opencl, program, kernel_name);
	if (!*kernel)
		err = make_kernel(d->proc->opencl, program, kernel_name, kernel);
	if (err != CL_SUCCESS)
		orr_error("kernel %s of OpenCL device %d: %s", kernel_name, devid,
			  orr_cl_text(err));
	return err;
}

int starpu_opencl_release_kernel(cl_kernel kernel)
{
	struct orr_opencl *cl = orr_self()->opencl;
	struct orr_cl_kernel *k = NULL;

	if (cl) {
		orr_lock(&cl->lock);
		for (k = cl->kernels; k && k->kernel != kernel; k = k->next)
			;
		if (k)
			k->used = 0;
		orr_unlock(&cl->lock);
	}
	return k ? CL_SUCCESS : clReleaseKernel(kernel);
}

int starpu_opencl_set_kernel_args(cl_int *err, cl_kernel *kernel, ...)
{
	va_list args;
	cl_uint n = 0;
	int size;

	*err = CL_SUCCESS;
	va_start(args, kernel);
	while ((size = va_arg(args, int)) != 0) {
		void *value = va_arg(args, void *);

		*err = clSetKernelArg(*kernel, n, (size_t) size, value);
		if (*err != CL_SUCCESS)
			break;
		n++;
	}
	va_end(args);
	return (int) n;
}

/* ---- binaries ---- */

/* The folder of compiled programs, which are run as they are: it has to be this user's alone. 0, or
 * -1 after a message. */
static int binary_folder(char *path, size_t size)
{
	const char *home = getenv("STARPU_HOME");

	if (!home || !*home)
		home = getenv("HOME");
	if (!home || !*home) {
		orr_error(
			"compiled OpenCL programs have no place: set HOME, or STARPU_HOME, to a folder of yours");
		return -1;
	}
	if (snprintf(path, size, "%s/.starpu/opencl", home) >= (int) size)
		return -1;
	int err = orr_private_folder(path);
	if (err)
		orr_error(
			"%s is no place for compiled OpenCL programs: %s; set STARPU_HOME to a folder of yours",
			path, orr_private_why(err));
	return err ? -1 : 0;
}

/* The file of a compiled program for a device, $STARPU_HOME/.starpu/opencl/ID.DEVICE. 0, or -1
 * after a message. */
static int binary_path(const struct orr_cl_device *d, const char *id, char *path, size_t size)
{
	const char *base = strrchr(id, '/');
	char device[sizeof(d->name)], folder[PATH_MAX];

	for (unsigned i = 0; i < sizeof(device); i++)
		device[i] = d->name[i] == '/' || d->name[i] == ' ' ? '_' : d->name[i];
	if (binary_folder(folder, sizeof(folder)))
		return -1;
	if (snprintf(path, size, "%s/%s.%s", folder, base ? base + 1 : id, device) < (int) size)
		return 0;
	orr_error("the name of the OpenCL program %s is too long", id);
	return -1;
}

/* Replaces the file as a whole, so that nothing is written through a link. 0 or -errno. */
static int replace(const char *path, const unsigned char *bytes, size_t size)
{
	char part[PATH_MAX + 32];

	snprintf(part, sizeof(part), "%s.%ld.part", path, (long) getpid());
	unlink(part);
	int fd = orr_private_open(part, O_WRONLY | O_CREAT | O_EXCL);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int err = fd < 0 ? fd : !f ? -ENOMEM : fwrite(bytes, 1, size, f) == size ? 0 : -EIO;
	if (f ? fclose(f) : fd < 0 ? 0 : close(fd))
		err = err ? err : -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	return err;
}

static int write_binary(const struct orr_cl_device *d, cl_program program, const char *id)
{
	char path[PATH_MAX];
	size_t size = 0;

	if (binary_path(d, id, path, sizeof(path)))
		return -1;
	clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
	unsigned char *bytes = malloc(size ? size : 1);
	int err = bytes && size &&
				  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes),
						   &bytes, NULL) == CL_SUCCESS
			  ? replace(path, bytes, size)
			  : -EIO;
	free(bytes);
	if (err)
		orr_error("the compiled OpenCL program %s cannot be stored in %s: %s", id, path,
			  orr_private_why(err));
	return err ? -1 : 0;
}

/* Compiles for each device, and stores what comes out. */
static int compile_all(const char *source, const char *id, const char *options)
{
	struct orr_opencl *cl = orr_self()->opencl;
	int ret = EXIT_SUCCESS;

	for (unsigned i = 0; cl && i < cl->ndevices; i++) {
		cl_program p = compile(&cl->device[i], source, options, id);

		if (!p || write_binary(&cl->device[i], p, id))
			ret = EXIT_FAILURE;
		if (p)
			clReleaseProgram(p);
	}
	return ret;
}

int starpu_opencl_compile_opencl_from_string(const char *opencl_program_source,
					     const char *file_name, const char *build_options)
{
	return compile_all(opencl_program_source, file_name, build_options);
}

int starpu_opencl_compile_opencl_from_file(const char *source_file_name, const char *build_options)
{
	char *file, *dir, *source, options[2 * PATH_MAX];

	starpu_opencl_load_program_source_malloc(source_file_name, &file, &dir, &source);
	add_directory(options, sizeof(options), build_options, dir);
	int ret = compile_all(source, source_file_name, options);
	free(file);
	free(dir);
	free(source);
	return ret;
}

static cl_program load_binary(const struct orr_cl_device *d, const char *id)
{
	char path[PATH_MAX];
	struct stat st;
	cl_int err = CL_INVALID_BINARY;
	cl_program p = NULL;
	if (binary_path(d, id, path, sizeof(path)))
		return NULL;
	int fd = orr_private_open(path, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned char *bytes = f && !fstat(fileno(f), &st) && st.st_size > 0
				       ? malloc((size_t) st.st_size)
				       : NULL;

	if (!bytes) {
		if (fd >= 0 || fd == -ENOENT)
			orr_error("there is no compiled OpenCL program %s; compile it first", path);
		else
			orr_error("the compiled OpenCL program %s is not loaded: %s", path,
				  orr_private_why(fd));
	} else {
		size_t size = fread(bytes, 1, (size_t) st.st_size, f);

		p = clCreateProgramWithBinary(d->context, 1, &d->id, &size,
					      (const unsigned char **) &bytes, NULL, &err);
		p = build(d, p, err, NULL, path);
	}
	if (f)
		fclose(f);
	free(bytes);
	return p;
}

int starpu_opencl_load_binary_opencl(const char *kernel_id,
				     struct starpu_opencl_program *opencl_programs)
{
	struct orr_opencl *cl = orr_self()->opencl;

	memset(opencl_programs, 0, sizeof(*opencl_programs));
	for (unsigned i = 0; cl && i < cl->ndevices; i++) {
		opencl_programs->programs[i] = load_binary(&cl->device[i], kernel_id);
		if (!opencl_programs->programs[i]) {
			starpu_opencl_unload_opencl(opencl_programs);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
