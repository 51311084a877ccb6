/* Huge pages: large blocks that XLA allocates lie on them, as NumPy's do.

   A block from the system is touched page by page, and each page of 4 KiB costs an interrupt: 4 to 8
   ms for 32 MiB, longer than many a program takes to fill them.  NumPy advises the kernel to use
   pages of 2 MiB for its own blocks (see aligned_memory.h); XLA doesn't, and has no option for it.

   XLA's library calls posix_memalign through a slot of its table of imported functions, which the
   loader fills.  That slot is given a function that calls posix_memalign and adds the advice: memory
   is the same, is freed the same way, and has the same contents.  A table that is not there, is read
   only (bound at once), or lacks the name is left alone. */

#if defined(__GLIBC__) && ((defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)) && defined(MADV_HUGEPAGE)
#include <link.h>

static int
allocate_on_huge_pages(void **block, size_t alignment, size_t size)
{
    int error = posix_memalign(block, alignment, size);
    if (error == 0 && size >= HUGE_BLOCK) {
        advise_huge_pages(*block, size);
    }
    return error;
}

/* What is looked for, and what was found. */
struct import_search {
    const char *library, *function;
    void *replacement;
    int found;
};

static int
replace_import(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *given)
{
    struct import_search *search = given;
    const ElfW(Dyn) *entry = NULL;
    const ElfW(Rela) *slots = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    ElfW(Addr) fixed = 0, fixed_end = 0; /* what the loader has made read only */
    size_t count = 0;
    int with_addends = 0;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, search->library) == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_DYNAMIC) {
            entry = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
        }
        if (header->p_type == PT_GNU_RELRO) {
            fixed = info->dlpi_addr + header->p_vaddr;
            fixed_end = fixed + header->p_memsz;
            fixed -= fixed % (ElfW(Addr))sysconf(_SC_PAGESIZE);
        }
    }
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++) { /* glibc has made these addresses absolute */
        switch (entry->d_tag) {
        case DT_JMPREL:
            slots = (const ElfW(Rela) *)entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_PLTREL:
            with_addends = entry->d_un.d_val == DT_RELA;
            break;
        case DT_SYMTAB:
            symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
            break;
        case DT_STRTAB:
            names = (const char *)entry->d_un.d_ptr;
            break;
        }
    }
    if (slots == NULL || symbols == NULL || names == NULL || !with_addends) {
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        ElfW(Addr) place = info->dlpi_addr + slots[i].r_offset;
        if (strcmp(names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name, search->function) == 0 && (place < fixed || place >= fixed_end)) {
            __atomic_store_n((void **)place, search->replacement, __ATOMIC_RELEASE);
            search->found = 1;
        }
    }
    return 1;
}

/* Let a library's large blocks lie on huge pages; return True if it takes them by posix_memalign. */
static PyObject *
use_huge_pages(PyObject *Py_UNUSED(module), PyObject *library)
{
    struct import_search search = {PyUnicode_AsUTF8(library), "posix_memalign", (void *)allocate_on_huge_pages, 0};
    if (search.library == NULL) {
        return NULL;
    }
    if (numpy_wants_huge_pages()) {
        dl_iterate_phdr(replace_import, &search);
    }
    return PyBool_FromLong(search.found);
}
#else
static PyObject *
use_huge_pages(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(library))
{
    Py_RETURN_FALSE;
}
#endif
