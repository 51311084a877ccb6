/* The fast path of frequent calls: 0.1 us for calls that take 1 to 2 us in Python.

   `connect` hands this module the classes, functions and caches of the Python modules around it;
   its Python door is `native/fast_path.py`.  Every rule stands in Python, in the slow path.  A
   function here either does exactly what the slow path would do, or returns FALL_BACK and has
   changed nothing.

   The fast path takes calls in the default mode (nothing is recorded, traced or observed) whose
   operands are npcompat's own arrays and scalars, not those of users' subclasses, or Python
   numbers: all of them on XLA, or all on the host.

   The module holds the GIL and needs it.  Attributes of handles, values, views and operators are
   slots of Python classes; they are read at their offsets, as borrowed references. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#endif
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <Python.h>
#include <stddef.h>
#include <numpy/arrayobject.h>
#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_READONLY READONLY
#endif

/* One translation unit: each header uses those before it. */
#include "module_state.h"
#include "payload.h"
#include "new_handle.h"
#include "apply_op.h"
#include "host_getitem.h"
#include "host_setitem.h"
#include "xla_indexing.h"
#include "temporary_elision.h"
#include "call_cache.h"
#include "function_type.h"
#include "aligned_memory.h"
#include "huge_pages.h"
#include "guards.h"
#include "rerun_program.h"
#include "method_type.h"
#include "shared_memory.h"
#include "attribute_type.h"
#include "frameless_call.h"

/* --- the module ---------------------------------------------------------------------------- */

static PyObject *
apply(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyObject *operands, *made;
    if (count < 2 || count > 3) {
        return PyErr_Format(PyExc_TypeError, "apply(op, args, attrs=()) takes 2 or 3 arguments, %zd were given", count);
    }
    if (connected && IS(args[0], op_) && (count == 2 || PyTuple_CheckExact(args[2]))) {
        if ((operands = PySequence_Fast(args[1], "operands are given as a tuple or list")) == NULL) {
            return NULL;
        }
        if (PySequence_Fast_GET_SIZE(operands) == 0) {
            made = count == 3 ? construct_by_numpy(args[0], args[2]) : FALL_BACK;
        }
        else {
            made = applied(args[0], PySequence_Fast_ITEMS(operands), PySequence_Fast_GET_SIZE(operands), count == 3 ? args[2] : no_attrs, 0, NULL);
        }
        Py_DECREF(operands);
        if (made != NULL || PyErr_Occurred()) {
            return made;
        }
    }
    if (slow_path_ == NULL) {
        return PyErr_Format(PyExc_RuntimeError, "an operator is applied before the dispatcher is there");
    }
    return PyObject_Vectorcall(slow_path_, args, count, NULL);
}

static PyObject *
apply_and_note(PyObject *module, PyObject *const *args, Py_ssize_t count, int only_on_host)
{
    PyObject *made = apply(module, args, count);
    if (made != NULL && current_report() != NULL && count == 3 && PyTuple_CheckExact(args[1]) && PyTuple_CheckExact(args[2])) {
        note_apply(args[0], args[1], args[2], made, only_on_host);
    }
    return made;
}

/* `apply` as the last step of a public function, which allows the call to be cached:
   `apply.apply_cached`. */
static PyObject *
apply_cached(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return apply_and_note(module, args, count, 0);
}

/* `apply_cached` for a function that checks values, as NumPy's own function does on the host. */
static PyObject *
apply_cached_on_host(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return apply_and_note(module, args, count, 1);
}

/* Exclude the running call of a Python function from its cache: a report with two results is not
   cached. */
static PyObject *
dont_cache(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (current_report() != NULL) {
        current_report()->times++;
    }
    Py_RETURN_NONE;
}

/* Return a view as the last step of a public function, and report its lens for all arrays of this
   shape. */
static PyObject *
cache_view(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyObject *operands;
    if (count != 3) {
        return PyErr_Format(PyExc_TypeError, "cache_view() takes an array, a lens and a view");
    }
    if (current_report() != NULL && IS_ARRAY(args[0]) && IS_ARRAY(args[2]) && !is_readonly(args[2])) {
        if ((operands = PyTuple_Pack(1, args[0])) == NULL) {
            return NULL;
        }
        note_apply(args[1], operands, Py_None, args[2], 0);
        Py_DECREF(operands);
    }
    return Py_NewRef(args[2]);
}

/* A new scalar that holds a host array without axes, which nobody writes. */
static PyObject *
host_scalar(PyObject *Py_UNUSED(module), PyObject *array)
{
    if (!connected || !IS_NDARRAY(array) || PyArray_NDIM((PyArrayObject *)array) != 0) {
        return PyErr_Format(PyExc_TypeError, "host_scalar() takes a NumPy array without axes");
    }
    return new_scalar(Py_NewRef(array));
}

/* The offset of a class's slot in its instances; -1 for errors. */
static Py_ssize_t
offset_of(PyObject *class, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString(class, name);
    Py_ssize_t offset = -1;
    if (descriptor != NULL && Py_TYPE(descriptor) == &PyMemberDescr_Type) {
        offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    else if (descriptor != NULL) {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", class, name);
    }
    Py_XDECREF(descriptor);
    return offset;
}

/* Hand objects of Python modules to this module, in several calls, as those modules are imported. */
static PyObject *
connect(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args), PyObject *kwargs)
{
    PyObject *name, *given, *fields;
    Py_ssize_t at = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &given)) {
        int i = 0;
        while (connections[i].name != NULL && PyUnicode_CompareWithASCIIString(name, connections[i].name) != 0) {
            i++;
        }
        if (connections[i].name != NULL) {
            Py_XSETREF(*connections[i].place, Py_NewRef(given));
        }
        else if (PyUnicode_CompareWithASCIIString(name, "xla_programs") == 0) {
            xla_programs = PyLong_AsSsize_t(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "host_programs") == 0) {
            host_programs = PyLong_AsSsize_t(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "donating_programs") == 0) {
            donating_programs = PyLong_AsSsize_t(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "only_programs") == 0) {
            only_programs = PyObject_IsTrue(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "binary_op") == 0) {
            binary_op = (int)PyLong_AsLong(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "mode") == 0) {
            if ((fields = PyObject_GetAttrString(given, "_fields")) == NULL) {
                return NULL;
            }
            is_default_at = PySequence_Index(fields, is_default_name);
            only_recording_at = PySequence_Index(fields, only_recording_name);
            training_at = PySequence_Index(fields, training_name);
            numpy_dtypes_at = PySequence_Index(fields, numpy_dtypes_name);
            device_at = PySequence_Index(fields, device_name);
            backend_at = PySequence_Index(fields, backend_name);
            Py_DECREF(fields);
        }
        else {
            return PyErr_Format(PyExc_TypeError, "connect() knows nothing of %R", name);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    for (int i = 0; connections[i].name != NULL; i++) {
        if (*connections[i].place == NULL) {
            Py_RETURN_NONE;
        }
    }
    for (int i = 0; slots[i].type != NULL; i++) {
        if ((*slots[i].offset = offset_of(*slots[i].type, slots[i].name)) < 0) {
            return NULL;
        }
    }
    if (!PyTuple_CheckExact(host_scalars_) || PyTuple_GET_SIZE(host_scalars_) > MOST_SCALARS) {
        return PyErr_Format(PyExc_TypeError, "connect(): host_scalars is a tuple of classes by NumPy's type numbers");
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(host_scalars_); i++) {
        PyObject *class = PyTuple_GET_ITEM(host_scalars_, i);
        scalar_classes[i] = class == Py_None ? NULL : (PyTypeObject *)class;
        if (class != Py_None && (offset_of(class, "_value") != array__value || offset_of(class, "_view") != array__view ||
                                 offset_of(class, "_extra") != array__extra)) {
            return PyErr_Format(PyExc_TypeError, "connect(): the slots of %R do not lie where those of arrays do", class);
        }
        if (class != Py_None) { /* `x[()]` is that of a mapping, as for NumPy's scalars: they are no sequences */
            ((PyHeapTypeObject *)class)->as_sequence.sq_item = NULL;
            ((PyTypeObject *)class)->tp_name = ((PyTypeObject *)class)->tp_base->tp_name; /* for messages */
        }
    }
    if (!PyList_CheckExact(default_mode_) || !PyDict_CheckExact(x64_scopes_) || is_default_at == 0) {
        return PyErr_Format(PyExc_TypeError, "connect(): default_mode is a list, x64_scopes a dict, and mode a NamedTuple");
    }
    connected = 1;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"apply", (PyCFunction)(void (*)(void))apply, METH_FASTCALL, "Apply an operator to array-likes."},
    {"cache_view", (PyCFunction)(void (*)(void))cache_view, METH_FASTCALL, "Return a view, and cache its lens."},
    {"apply_cached", (PyCFunction)(void (*)(void))apply_cached, METH_FASTCALL, "Apply an operator, and cache the call."},
    {"apply_cached_on_host", (PyCFunction)(void (*)(void))apply_cached_on_host, METH_FASTCALL, "Apply an operator, and cache the call for operands on the host."},
    {"export", export_memory, METH_O, "Return the memory of an array as a NumPy array."},
    {"align_memory", align_memory, METH_NOARGS, "Let NumPy take aligned memory for large arrays."},
    {"use_huge_pages", use_huge_pages, METH_O, "Let the large blocks of a library lie on huge pages."},
    {"written_elsewhere", written_elsewhere, METH_O, "Return True if another thread writes a buffer now."},
    {"dont_cache", dont_cache, METH_NOARGS, "Exclude the running call from its cache."},
    {"host_scalar", host_scalar, METH_O, "Return a new scalar that holds a host array without axes."},
    {"rerun_recent", (PyCFunction)(void (*)(void))rerun_recent, METH_FASTCALL, "Run the recent program of a call, if there is one."},
    {"is_clear", is_clear, METH_O, "Return True if no flag of an array is set."},
    {"guards_hold", guards_hold, METH_O, "Return True if all guards hold."},
    {"profiled", (PyCFunction)(void (*)(void))profiled, METH_FASTCALL, "Call a function, and visit the frames of Python functions that it calls."},
    {"connect", (PyCFunction)(void (*)(void))connect, METH_VARARGS | METH_KEYWORDS, "Hand objects of Python modules to this module."},
    {NULL, NULL, 0, NULL},
};

static int
fill(PyObject *module)
{
    static const struct {
        PyObject **place;
        const char *text;
    } names[] = {
        {&out_name, "out"}, {&dtype_name, "dtype"}, {&aval_name, "aval"}, {&shape_name, "shape"}, {&sharding_name, "sharding"}, {&payload_name, "payload"},
        {&on_host_name, "on_host"}, {&acquire_name, "acquire"}, {&release_name, "release"}, {&hold_name, "hold"}, {&rerun_name, "rerun"}, {&finished_name, "finished"}, {&name_name, "name"}, {&is_default_name, "is_default"},
        {&only_recording_name, "only_recording"}, {&training_name, "training"}, {&numpy_dtypes_name, "numpy_dtypes"}, {&device_name, "device"}, {&backend_name, "backend"},
        {&default_device_name, "jax_default_device"}, {&dunder_name, "__name__"}, {NULL, NULL},
    };
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "npcompat's C fast path runs in the main interpreter only: it keeps what it knows in static variables");
        return -1;
    }
    if (PyArray_ImportNumPyAPI() < 0) {
        return -1;
    }
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    no_attrs = PyTuple_New(0);
    out_keyword = Py_BuildValue("(s)", "out");
    in_tuple = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    in_list = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    for (int i = 0; names[i].place != NULL; i++) {
        *names[i].place = PyUnicode_InternFromString(names[i].text);
    }
    padded_type.tp_new = PyBaseObject_Type.tp_new; /* so that `object.__new__` makes handles */
    return PyErr_Occurred() || PyModule_AddType(module, &function_type) < 0 || PyModule_AddType(module, &method_type) < 0 ||
                   PyModule_AddType(module, &padded_type) < 0 || PyModule_AddType(module, &buffered_type) < 0 || PyModule_AddType(module, &attribute_type) < 0 ||
                   PyModule_AddType(module, &frameless_call_type) < 0 || PyType_Ready(&export_type) < 0
               ? -1
               : 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)fill},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_USED}, /* reference counts prove ownership, which needs the GIL */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "npcompat._internal.native._native",
    .m_doc = "Fast path of frequent calls.",
    .m_methods = functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
