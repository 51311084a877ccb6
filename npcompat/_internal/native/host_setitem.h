/* Writes on the host: `a[key] = new`, `a += b` and `out=`.

   A buffer is written only if reference counts prove that nothing else holds it; no reference to it
   may be taken before that check.  The slow path is `put` of indexing/host.py, and `buffer` of
   dispatch/writes.py. */

/* Writes in progress, which NumPy does without the GIL.  Another thread that writes a part of the
   same array finds its buffer held, and waits for them (`buffer` of dispatch/writes.py): if it
   copied the buffer, what is written meanwhile would be lost. */
#define MOST_WRITES 64
#define WITH_GIL 500 /* elements that NumPy writes at most without releasing the GIL */
typedef struct {
    PyObject *buffer; /* borrowed, to be compared only */
    unsigned long thread;
} Write;
static Write writes_in_progress[MOST_WRITES];
static int count_of_writes = 0;

/* Begin a write; 0 if there are too many.  Each is ended by `end_write`, also after an error. */
static int
begin_write(PyObject *buffer)
{
    if (count_of_writes == MOST_WRITES) {
        return 0;
    }
    writes_in_progress[count_of_writes].buffer = buffer;
    writes_in_progress[count_of_writes++].thread = PyThread_get_thread_ident();
    return 1;
}

static void
end_write(PyObject *buffer)
{
    for (int i = count_of_writes; i-- > 0;) {
        if (writes_in_progress[i].buffer == buffer) { /* no two threads write one */
            writes_in_progress[i] = writes_in_progress[--count_of_writes];
            return;
        }
    }
}

/* True if another thread writes a buffer now. */
static PyObject * /* new */
written_elsewhere(PyObject *Py_UNUSED(module), PyObject *buffer)
{
    unsigned long thread = PyThread_get_thread_ident();
    for (int i = 0; i < count_of_writes; i++) {
        if (writes_in_progress[i].buffer == buffer && writes_in_progress[i].thread != thread) {
            Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}

/* True if a value was recorded, and is no variable: Python decides what a write leaves of that. */
static int
has_history(PyObject *value, PyObject *rare)
{
    PyObject *node = SLOT(value, value_node);
    return node != Py_None && (rare == Py_None || node != SLOT(rare, extra_leaf));
}

/* The buffer of a handle on the host, to be written; FALL_BACK if it is shared.  If NumPy may write
   more than `WITH_GIL` elements, as positions may be many in a small array, too, it is stored in
   `large`, else NULL.  After the write call `end_write` for it, and `is_written`. */
static PyObject * /* new */
own_buffer(PyObject *handle, int by_positions, PyObject **large)
{
    PyObject *view = SLOT(handle, array__view), *root = view == Py_None ? handle : SLOT(view, view_root), *value, *payload, *rare, *version, *target;
    if (SLOT(root, array__value) == NULL || !IS(SLOT(root, array__value), value_)) {
        return FALL_BACK;
    }
    value = SLOT(root, array__value);
    payload = SLOT(value, value_payload);
    rare = SLOT(root, array__extra);
    if (has_history(value, rare) || !IS_NDARRAY(payload) || PyArray_BASE((PyArrayObject *)payload) != NULL || Py_REFCNT(value) != 1 || Py_REFCNT(payload) != 1) {
        return FALL_BACK;
    }
    if (rare != Py_None) {
        if ((version = PyIter_Next(clock_)) == NULL) {
            return NULL;
        }
        Py_SETREF(SLOT(rare, extra_version), version);
    }
    if ((target = view == Py_None ? Py_NewRef(payload) : current_array(handle)) == NULL) {
        return NULL;
    }
    *large = IS_NDARRAY(target) && (by_positions || PyArray_SIZE((PyArrayObject *)target) > WITH_GIL) ? payload : NULL;
    if (*large != NULL && !begin_write(payload)) {
        Py_DECREF(target);
        return FALL_BACK;
    }
    return target;
}

/* Drop the node of a value that was overwritten, or restore the leaf of a variable. */
static void
is_written(PyObject *handle)
{
    PyObject *view = SLOT(handle, array__view), *root = view == Py_None ? handle : SLOT(view, view_root);
    PyObject *value = SLOT(root, array__value), *rare = SLOT(root, array__extra);
    Py_SETREF(SLOT(value, value_node), Py_NewRef(rare == Py_None ? Py_None : SLOT(rare, extra_leaf)));
    Py_SETREF(SLOT(value, value_index), Py_NewRef(zero));
}

static int
is_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) || PyComplex_CheckExact(object);
}

/* An assigned value, converted for NumPy; FALL_BACK for arrays on XLA.  Call it after `own_buffer`,
   because it takes a reference, which raises the count. */
static PyObject * /* new */
as_numpys(PyObject *object)
{
    PyObject *array, *found;
    if (is_number(object)) {
        return Py_NewRef(object);
    }
    if ((array = current_array(object)) == NULL || !IS_SCALAR(object)) {
        return array;
    }
    found = as_numpys_scalar(array); /* NumPy checks that a scalar fits the dtype; arrays are only cast */
    Py_DECREF(array);
    return found;
}

#define ERROR_OR_FALL_BACK (PyErr_Occurred() ? -1 : 0)

/* True if a handle's elements are on the host, and of a common dtype (`is_common`). */
static int
is_common_on_host(PyObject *handle)
{
    PyObject *found = current_array(handle);
    int common = found != NULL && is_common(PyArray_DESCR((PyArrayObject *)found));
    Py_XDECREF(found);
    return common;
}

/* The address of the element that a key of ints names, for NumPy's conversion of a number; NULL
   without an error where its `a[key] = new` has more to check. */
static char *
element_to_write(PyObject *target, PyObject *key)
{
    return IS_NDARRAY(target) && PyArray_ISBEHAVED((PyArrayObject *)target) ? element_at((PyArrayObject *)target, key) : NULL;
}

/* `handle[key] = new`; 1 if it is done, 0 if the slow path is needed, -1 for an error. */
static int
written(PyObject *handle, PyObject *given, PyObject *new)
{
    PyObject *key, *target, *source = NULL, *large = NULL;
    char *place;
    int basic, failure;
    if (!IS_ARRAY(handle) || !(is_number(new) || IS_OURS(new)) || is_readonly(handle) || !mode_is_default()) {
        return ERROR_OR_FALL_BACK;
    }
    if (IS_OURS(new) && SLOT(new, array__view) != Py_None) {
        PyObject *view = SLOT(new, array__view), *lens = SLOT(view, view_lens);
        if (SLOT(view, view_parent) == handle && IS(lens, key_lens_) && SLOT(lens, key_lens_key) == given) {
            return 1; /* the last step of `a[key] += x`, which has written the view already */
        }
    }
    if (!is_common_on_host(handle) || (IS_OURS(new) && !is_common_on_host(new)) || PyErr_Occurred() ||
        (key = numpys_key(given, &basic)) == NULL) {
        return ERROR_OR_FALL_BACK;
    }
    if ((target = own_buffer(handle, !basic, &large)) == NULL || (source = as_numpys(new)) == NULL) {
        if (target != NULL && large != NULL) {
            end_write(large);
        }
        Py_XDECREF(target);
        Py_DECREF(key);
        return ERROR_OR_FALL_BACK;
    }
    place = basic && is_number(new) ? element_to_write(target, key) : NULL;
    failure = place == NULL ? PyObject_SetItem(target, key, source) : PyArray_Pack(PyArray_DESCR((PyArrayObject *)target), place, source);
    if (large != NULL) {
        end_write(large);
    }
    Py_DECREF(source);
    Py_DECREF(target);
    Py_DECREF(key);
    if (failure == 0) {
        is_written(handle);
    }
    return failure < 0 ? -1 : 1;
}

/* `handle += other` and its siblings by NumPy's own function; returns as `written`. */
static int
changed_in_place(PyObject *op, PyObject *handle, PyObject *other)
{
    PyObject *target, *source, *made, *arguments[3], *large = NULL;
    if (!IS_ARRAY(handle) || SLOT(op, op_ufunc) == Py_None || SLOT(op, op_outputs) != one || !(is_number(other) || IS_OURS(other)) ||
        is_readonly(handle) || !mode_is_default() || !is_common_on_host(handle) || (IS_OURS(other) && !is_common_on_host(other)) ||
        PyErr_Occurred() || (target = own_buffer(handle, 0, &large)) == NULL) {
        return ERROR_OR_FALL_BACK;
    }
    if ((source = is_number(other) ? Py_NewRef(other) : current_array(other)) == NULL) {
        if (large != NULL) {
            end_write(large);
        }
        Py_DECREF(target);
        return ERROR_OR_FALL_BACK;
    }
    arguments[0] = arguments[2] = target;
    arguments[1] = source;
    made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, 2, out_keyword);
    if (large != NULL) {
        end_write(large);
    }
    Py_DECREF(source);
    Py_DECREF(target);
    if (made == NULL) {
        return -1;
    }
    Py_DECREF(made);
    is_written(handle);
    return 1;
}

/* `function(*operands, out=target)` by NumPy's own function; returns as `written`. */
static int
written_into(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *out)
{
    PyObject *arguments[MOST_OPERANDS + 1], *made = NULL, *large = NULL;
    Py_ssize_t i;
    if (!IS_ARRAY(out) || count >= MOST_OPERANDS || SLOT(op, op_ufunc) == Py_None || SLOT(op, op_outputs) != one || is_readonly(out) ||
        !mode_is_default() || !is_common_on_host(out)) {
        return ERROR_OR_FALL_BACK;
    }
    for (i = 0; i < count; i++) {
        if (!is_number(args[i]) && !(IS_OURS(args[i]) && is_common_on_host(args[i]))) {
            return ERROR_OR_FALL_BACK;
        }
    }
    if ((arguments[count] = own_buffer(out, 0, &large)) == NULL) {
        return ERROR_OR_FALL_BACK;
    }
    for (i = 0; i < count; i++) {
        if ((arguments[i] = is_number(args[i]) ? Py_NewRef(args[i]) : current_array(args[i])) == NULL) {
            break;
        }
    }
    if (i == count) {
        made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, count, out_keyword);
    }
    if (large != NULL) {
        end_write(large);
    }
    while (i > 0) {
        Py_DECREF(arguments[--i]);
    }
    Py_DECREF(arguments[count]);
    if (made == NULL) {
        return ERROR_OR_FALL_BACK;
    }
    Py_DECREF(made);
    is_written(out);
    return 1;
}
