/* Aligned memory: large arrays of NumPy begin where XLA reads a buffer of the host in place.

   Malloc aligns to 16 bytes, XLA wants 64, and copies what begins elsewhere.  NumPy takes its memory
   from a handler that may be replaced (NEP 49).  This one differs from NumPy's own in one function:
   blocks from LARGE_BLOCK bytes on come from posix_memalign.  They are freed, and grow, as before, so
   that it does not matter which handler an array was made with.  Memory that begins as zeros comes
   from calloc, which touches no page, and may be unaligned. */

#if defined(__linux__) || defined(__APPLE__)
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

enum {
    LARGE_BLOCK = 1 << 19, /* as in backend/jax/placement.py */
    XLA_ALIGNMENT = 64,
    HUGE_BLOCK = 1 << 22 /* NumPy asks for huge pages from here on */
};

static PyDataMem_Handler numpys_handler, aligned_handler;
static int wants_huge_pages;

/* NumPy's own setting, which it reads from the environment, too. */
static int
numpy_wants_huge_pages(void)
{
    const char *huge = getenv("NUMPY_MADVISE_HUGEPAGE");
    return huge == NULL || strcmp(huge, "0") != 0;
}

/* Advise the kernel to use huge pages for a block. */
static void
advise_huge_pages(void *block, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = (page - (size_t)block % page) % page;
    madvise((char *)block + skipped, size - skipped, MADV_HUGEPAGE); /* advice: it may fail */
#else
    (void)block, (void)size;
#endif
}

static void *
allocate_aligned(void *context, size_t size)
{
    void *block;
    if (size < LARGE_BLOCK) {
        return numpys_handler.allocator.malloc(context, size);
    }
    if (posix_memalign(&block, XLA_ALIGNMENT, size) != 0) {
        return NULL;
    }
    if (size >= HUGE_BLOCK && wants_huge_pages) {
        advise_huge_pages(block, size);
    }
    return block;
}

/* Let NumPy take aligned memory for the large arrays of this thread, and return True; return False
   if somebody else has replaced NumPy's handler. */
static PyObject *
align_memory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    PyObject *capsule = PyDataMem_GetHandler(), *before;
    PyDataMem_Handler *found;
    if (capsule == NULL || (found = PyCapsule_GetPointer(capsule, "mem_handler")) == NULL) {
        Py_XDECREF(capsule);
        return NULL;
    }
    if (strcmp(found->name, "default_allocator") != 0) {
        Py_DECREF(capsule);
        Py_RETURN_FALSE;
    }
    numpys_handler = aligned_handler = *found; /* NumPy's own is static, as are its functions */
    Py_DECREF(capsule);
    strcpy(aligned_handler.name, "npcompat_aligned");
    aligned_handler.allocator.malloc = allocate_aligned;
    wants_huge_pages = numpy_wants_huge_pages();
    if ((capsule = PyCapsule_New(&aligned_handler, "mem_handler", NULL)) == NULL) {
        return NULL;
    }
    before = PyDataMem_SetHandler(capsule);
    Py_DECREF(capsule);
    if (before == NULL) {
        return NULL;
    }
    Py_DECREF(before);
    Py_RETURN_TRUE;
}
#else
static PyObject *
align_memory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    Py_RETURN_FALSE;
}
#endif
