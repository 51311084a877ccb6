/* `a[key]`, `a[key] = new` and `a += b` on XLA, for basic keys and programs that exist.

   A basic key is parsed as `basic` of indexing/basic.py does it.  The slow path in Python compiles
   missing programs, broadcasts, casts, and raises errors for wrong keys.  A payload is donated only
   if reference counts prove that nothing else holds it; the lock `updating` is held meanwhile, as
   in `update` of dispatch/writes.py. */

enum { MOST_ITEMS = 16 };

/* The part that a basic key selects of an array. */
typedef struct {
    PyObject *attrs, *starts; /* of the lens */
    npy_intp shape[MOST_ITEMS];
    int ndim, is_element;
} Part;

static void
clear_part(Part *part)
{
    Py_CLEAR(part->attrs);
    Py_CLEAR(part->starts);
}

/* Parse an int or a slice for an axis of this length; returns the length of the part, -1 for wrong
   items. */
static npy_intp
parse_item(PyObject *item, npy_intp length, Py_ssize_t *start, Py_ssize_t *step)
{
    Py_ssize_t stop;
    int overflow;
    if (PySlice_Check(item)) {
        if (PySlice_Unpack(item, start, &stop, step) < 0) {
            PyErr_Clear();
            return -1;
        }
        length = PySlice_AdjustIndices(length, start, &stop, *step);
        *start = length > 0 ? *start : 0;
        return length;
    }
    *start = PyLong_AsLongAndOverflow(item, &overflow);
    *start += *start < 0 ? length : 0;
    return overflow || *start < 0 || *start >= length ? -1 : 1;
}

static PyObject * /* new */
slice_spec(npy_intp length, Py_ssize_t step)
{
    PyObject *spec = PyTuple_New(3);
    if (spec != NULL) {
        PyTuple_SET_ITEM(spec, 0, Py_NewRef(slice_kind_));
        PyTuple_SET_ITEM(spec, 1, PyLong_FromSsize_t(length));
        PyTuple_SET_ITEM(spec, 2, PyLong_FromSsize_t(step));
    }
    return spec;
}

/* Parse a basic key; 0 if the slow path is needed.  Call `clear_part` in either case. */
static int
parse_basic_key(PyObject *shape, PyObject *key, Part *part)
{
    PyObject *const *items = &key, *spec = NULL, *starts[MOST_ITEMS], *kind;
    Py_ssize_t count = 1, used = 0, ndim = PyTuple_GET_SIZE(shape), axis = 0, specified = 0, started = 0, start, step;
    int ellipses = 0, done = 0;
    *part = (Part){.is_element = 1};
    if (PyTuple_CheckExact(key)) {
        items = &PyTuple_GET_ITEM(key, 0);
        count = PyTuple_GET_SIZE(key);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        ellipses += items[i] == Py_Ellipsis;
        used += items[i] != Py_Ellipsis && items[i] != Py_None;
    }
    if (!is_fixed(key) || ellipses > 1 || used > ndim || count - used + ndim > MOST_ITEMS || (spec = PyTuple_New(count - ellipses + ndim - used)) == NULL) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count + !ellipses; i++) {
        PyObject *item = i < count ? items[i] : Py_Ellipsis;
        Py_ssize_t axes = item == Py_Ellipsis ? ndim - used : 1;
        part->is_element &= i >= count || (item != Py_Ellipsis && item != Py_None);
        for (Py_ssize_t j = 0; j < axes; j++) {
            npy_intp length = item == Py_None ? 1 : PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis)), left = length;
            kind = item == Py_None ? new_axis_ : whole_axis_;
            if (PyLong_CheckExact(item) || PySlice_Check(item)) {
                if ((left = parse_item(item, length, &start, &step)) < 0) {
                    goto failed;
                }
                if (PyLong_CheckExact(item)) {
                    kind = no_axis_;
                }
                else if (start != 0 || step != 1 || left != length) {
                    kind = NULL;
                }
                if (kind != whole_axis_ && (starts[started++] = PyLong_FromSsize_t(start)) == NULL) {
                    started--;
                    goto failed;
                }
            }
            if ((kind = kind == NULL ? slice_spec(left, step) : Py_NewRef(kind)) == NULL) {
                goto failed;
            }
            PyTuple_SET_ITEM(spec, specified++, kind);
            if (kind != no_axis_) {
                part->shape[part->ndim++] = left;
                part->is_element = 0;
            }
            axis += item != Py_None;
        }
    }
    part->attrs = PyTuple_Pack(1, spec);
    part->starts = PyTuple_New(started);
    done = part->attrs != NULL && part->starts != NULL;
failed:
    for (Py_ssize_t i = 0; i < started; i++) {
        if (done) {
            PyTuple_SET_ITEM(part->starts, i, starts[i]);
        }
        else {
            Py_DECREF(starts[i]);
        }
    }
    Py_DECREF(spec);
    return done;
}

/* The number of axes of a view through the lens of a basic key; -1 if a slice is empty. */
static int
axes_seen(PyObject *lens)
{
    PyObject *spec = PyTuple_GET_ITEM(SLOT(lens, lens_attrs), 0);
    int axes = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(spec); i++) {
        PyObject *kind = PyTuple_GET_ITEM(spec, i);
        if (PyTuple_GET_SIZE(kind) > 1 && PyTuple_GET_ITEM(kind, 1) == zero) {
            return -1;
        }
        axes += PyTuple_GET_ITEM(kind, 0) != PyTuple_GET_ITEM(no_axis_, 0);
    }
    return axes;
}

/* True for arrays and scalars on XLA, and for views of such arrays. */
static int
is_on_xla(PyObject *handle)
{
    PyObject *value;
    if (!IS_OURS(handle)) {
        return 0;
    }
    value = SLOT(handle, array__view) == Py_None ? SLOT(handle, array__value) : SLOT(SLOT(SLOT(handle, array__view), view_root), array__value);
    return IS(value, value_) && IS(SLOT(value, value_payload), xla_array_);
}

/* The payload of an array on XLA that is no view, and is not retained by a compiled program; NULL
   for others. */
static PyObject * /* borrowed */
owned_on_xla(PyObject *handle)
{
    PyObject *value = SLOT(handle, array__value);
    if (!IS_ARRAY(handle) || SLOT(handle, array__view) != Py_None || !IS(value, value_) || !IS(SLOT(value, value_payload), xla_array_)) {
        return NULL;
    }
    return SLOT(value, value_payload);
}

/* The lens of a view of such an array, if it is that of a basic key; NULL for others. */
static PyObject * /* borrowed */
lens_on_xla(PyObject *handle)
{
    PyObject *view = SLOT(handle, array__view), *rare = SLOT(handle, array__extra), *lens;
    if (view == Py_None || (rare != Py_None && SLOT(rare, extra_leaf) != Py_None)) {
        return NULL;
    }
    lens = SLOT(view, view_lens);
    return IS(lens, lens_) && SLOT(lens, lens_get) == index_get_ && owned_on_xla(SLOT(view, view_parent)) != NULL ? lens : NULL;
}

static int
add_operand(Operands *operands, PyObject *payload)
{
    if (payload != NULL) {
        operands->payloads[operands->count++] = payload;
    }
    return payload != NULL;
}

/* Add the start positions of a part; 0 for errors, and if there are too many. */
static int
add_starts(Operands *operands, PyObject *starts)
{
    int fits = operands->count + PyTuple_GET_SIZE(starts) <= MOST_OPERANDS;
    for (Py_ssize_t i = 0; fits && i < PyTuple_GET_SIZE(starts); i++) {
        fits = add_operand(operands, PyObject_CallOneArg(xla_scalar_, PyTuple_GET_ITEM(starts, i)));
    }
    return fits;
}

static PyObject * /* new; a payload */
xla_getitem(PyObject *payload, PyObject *attrs, PyObject *starts, int numpy_dtypes)
{
    Operands operands = {.payloads = {Py_NewRef(payload)}, .count = 1};
    PyObject *made = add_starts(&operands, starts) ? run_program(index_get_, &operands, attrs, xla_programs + numpy_dtypes) : NULL;
    release(&operands);
    return made;
}

/* The payload of a view of an array on XLA in the default mode, cached as `read` does; FALL_BACK
   for other views. */
static PyObject * /* new */
read_on_xla(PyObject *handle)
{
    PyObject *lens = lens_on_xla(handle), *view = SLOT(handle, array__view), *root, *known, *version, *made, *mode;
    int same;
    if (lens == NULL || SLOT(view, view_root) != SLOT(view, view_parent) || (mode = default_mode_or_null()) == NULL) {
        return FALL_BACK;
    }
    root = SLOT(view, view_root);
    known = SLOT(view, view_cached);
    version = Py_NewRef(SLOT(SLOT(root, array__extra), extra_version));
    if (known != Py_None && IS(known, value_) && (SLOT(known, value_node) != Py_None || SLOT(SLOT(root, array__value), value_node) == Py_None) &&
        (same = PyObject_RichCompareBool(SLOT(view, view_version), version, Py_EQ)) != 0) {
        made = same > 0 ? payload_of(known) : NULL;
    }
    else {
        made = xla_getitem(owned_on_xla(root), SLOT(lens, lens_attrs), SLOT(lens, lens_operands), PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero);
        known = made == NULL ? NULL : new_value(Py_NewRef(made));
        if (known != NULL) {
            Py_SETREF(SLOT(view, view_cached), known);
            Py_SETREF(SLOT(view, view_version), Py_NewRef(version));
        }
        else {
            Py_CLEAR(made);
        }
    }
    Py_DECREF(version);
    Py_DECREF(mode);
    return made;
}

/* `handle[key]` on XLA: an element, or a view. */
static PyObject * /* new */
part_on_xla(PyObject *handle, PyObject *key)
{
    PyObject *payload = owned_on_xla(handle), *mode = payload == NULL || is_readonly(handle) ? NULL : default_mode_or_null(), *shape, *lens, *made = NULL;
    Part part;
    if (mode == NULL || (shape = shape_of(payload)) == NULL) {
        Py_XDECREF(mode);
        return NULL;
    }
    if (parse_basic_key(shape, key, &part)) {
        if (part.is_element) {
            made = xla_getitem(payload, part.attrs, part.starts, PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero);
            made = made == NULL ? NULL : new_handle(scalar_, made);
        }
        else if ((lens = new_instance(lens_)) != NULL) {
            SLOT(lens, lens_get) = Py_NewRef(index_get_);
            SLOT(lens, lens_put) = Py_NewRef(index_put_);
            SLOT(lens, lens_look) = Py_NewRef(index_look_);
            SLOT(lens, lens_attrs) = Py_NewRef(part.attrs);
            SLOT(lens, lens_operands) = Py_NewRef(part.starts);
            made = view_through(handle, lens);
            Py_DECREF(lens);
        }
    }
    clear_part(&part);
    Py_DECREF(shape);
    Py_DECREF(mode);
    return made;
}

/* True if nothing else holds the value and the payload of an array on XLA, so that the buffer can
   be donated. */
static int
is_own(PyObject *handle)
{
    PyObject *payload = owned_on_xla(handle);
    return payload != NULL && !has_history(SLOT(handle, array__value), SLOT(handle, array__extra)) && Py_REFCNT(SLOT(handle, array__value)) == 1 && Py_REFCNT(payload) == 1;
}

/* Replace the value of a handle that is no view; steals the value; 0 for an error. */
static int
replaced(PyObject *handle, PyObject *value)
{
    PyObject *rare = SLOT(handle, array__extra), *version;
    if (rare != Py_None) {
        if ((version = PyIter_Next(clock_)) == NULL) {
            Py_DECREF(value);
            return 0;
        }
        Py_SETREF(SLOT(rare, extra_version), version);
        Py_SETREF(SLOT(value, value_node), Py_NewRef(SLOT(rare, extra_leaf)));
    }
    Py_SETREF(SLOT(handle, array__value), value);
    return 1;
}

/* Run the program that writes a part; the caller holds the lock. */
static PyObject * /* new; a payload */
xla_setitem_locked(PyObject *handle, Operands *operands, PyObject *attrs, PyObject *program)
{
    if (!is_own(handle)) {
        return FALL_BACK;
    }
    operands->payloads[0] = Py_NewRef(owned_on_xla(handle));
    return call_program(index_put_, program, operands, attrs);
}

/* Write a payload of fitting shape and dtype into a part of an array on XLA; steals the payload.  1
   if it is done, 0 if the slow path is needed, -1 for an error. */
static int
put_on_xla(PyObject *handle, PyObject *attrs, PyObject *starts, PyObject *new)
{
    Operands operands = {.payloads = {NULL, new}, .count = 2};
    PyObject *mode = is_own(handle) ? default_mode_or_null() : NULL, *key = NULL, *program = NULL, *made, *value, *held, *kind, *error, *trace;
    int done = 0;
    if (mode != NULL && (key = PyTuple_Pack(2, attrs, first_)) != NULL && add_starts(&operands, starts)) {
        PyObject *programs = programs_of(index_put_, donating_programs + (PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero));
        program = Py_XNewRef(PyDict_GetItemWithError(programs, key)); /* waiting for the lock lets other threads change the dict */
    }
    if (program != NULL && (held = PyObject_CallMethodNoArgs(updating_, acquire_name)) != NULL) {
        Py_DECREF(held);
        made = xla_setitem_locked(handle, &operands, attrs, program);
        done = made != NULL && (value = new_value(made)) != NULL && replaced(handle, value);
        PyErr_Fetch(&kind, &error, &trace);
        held = PyObject_CallMethodNoArgs(updating_, release_name);
        Py_XDECREF(held);
        if (kind != NULL) {
            PyErr_Restore(kind, error, trace);
        }
    }
    while (operands.count > 0) {
        Py_XDECREF(operands.payloads[--operands.count]);
    }
    Py_XDECREF(program);
    Py_XDECREF(key);
    Py_XDECREF(mode);
    return done ? 1 : ERROR_OR_FALL_BACK;
}

/* True if a dtype is certain to hold a number. */
static int
can_hold(PyArray_Descr *dtype, PyObject *number)
{
    if (PyComplex_CheckExact(number) || dtype->type_num >= EXTENDED) {
        return 0;
    }
    if (PyTypeNum_ISINTEGER(dtype->type_num)) {
        return PyBool_Check(number) || (PyLong_CheckExact(number) && is_small(number));
    }
    return !PyLong_CheckExact(number) || fits_64_bits(number);
}

/* True if a payload on XLA has the shape of a part, and this dtype. */
static int
is_like(PyObject *payload, Part *part, PyObject *dtype)
{
    PyObject *shape = shape_of(payload), *own = shape == NULL ? NULL : dtype_of(payload);
    int like = own == dtype && PyTuple_GET_SIZE(shape) == part->ndim;
    for (int axis = 0; like && axis < part->ndim; axis++) {
        like = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis)) == part->shape[axis];
    }
    Py_XDECREF(shape);
    Py_XDECREF(own);
    return like;
}

/* True if payloads on XLA have the same shape and dtype. */
static int
are_alike(PyObject *payload, PyObject *other)
{
    PyObject *shapes[2] = {shape_of(payload), shape_of(other)}, *dtypes[2] = {dtype_of(payload), dtype_of(other)};
    int alike = !PyErr_Occurred() && dtypes[0] == dtypes[1] && PyObject_RichCompareBool(shapes[0], shapes[1], Py_EQ) == 1;
    for (int i = 0; i < 2; i++) {
        Py_XDECREF(shapes[i]);
        Py_XDECREF(dtypes[i]);
    }
    return alike;
}

/* True if an array is a view of this part: the last step of `a[1:] += x` assigns the view, which is
   written already. */
static int
looks_at(PyObject *array, PyObject *handle, Part *part)
{
    PyObject *lens = IS_OURS(array) ? lens_on_xla(array) : NULL;
    return lens != NULL && SLOT(SLOT(array, array__view), view_parent) == handle &&
           PyObject_RichCompareBool(SLOT(lens, lens_attrs), part->attrs, Py_EQ) == 1 &&
           PyObject_RichCompareBool(SLOT(lens, lens_operands), part->starts, Py_EQ) == 1;
}

/* `handle[key] = new` on XLA; 1 if it is done, 0 if the slow path is needed, -1 for an error. */
static int
written_on_xla(PyObject *handle, PyObject *key, PyObject *new)
{
    PyObject *payload = is_readonly(handle) || !(is_number(new) || IS_OURS(new)) || !mode_is_default() ? NULL : owned_on_xla(handle);
    PyObject *shape = payload == NULL ? NULL : shape_of(payload);
    PyObject *dtype = shape == NULL ? NULL : dtype_of(payload), *sent = NULL;
    Part part = {NULL};
    int done = 0;
    if (dtype != NULL && PyArray_DescrCheck(dtype) && parse_basic_key(shape, key, &part)) {
        done = looks_at(new, handle, &part);
        if (done || PyTuple_GET_SIZE(part.starts) == 0) {
            /* it is written already, or the slow path replaces the whole array */
        }
        else if (is_number(new)) {
            sent = can_hold((PyArray_Descr *)dtype, new) && keeps_its_place(payload, NULL) ? PyObject_CallOneArg(xla_scalar_, new) : NULL;
        }
        else if ((sent = payload_read(new)) != NULL && !(IS(sent, xla_array_) && is_like(sent, &part, dtype) && keeps_its_place(payload, sent))) {
            Py_CLEAR(sent);
        }
        if (sent != NULL) {
            done = put_on_xla(handle, part.attrs, part.starts, sent);
        }
    }
    clear_part(&part);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return done == 1 ? 1 : ERROR_OR_FALL_BACK;
}

#define LARGE (1 << 20) /* bytes; see `npcompat/numpy/_operators.py` */

/* True for arrays on XLA of at least LARGE bytes, whose buffers the slow path donates. */
static int
is_large(PyObject *payload)
{
    PyObject *shape = shape_of(payload), *dtype = shape == NULL ? NULL : dtype_of(payload);
    double bytes = dtype != NULL && PyArray_DescrCheck(dtype) ? (double)PyDataType_ELSIZE((PyArray_Descr *)dtype) : 0;
    for (Py_ssize_t i = 0; bytes > 0 && i < PyTuple_GET_SIZE(shape); i++) {
        bytes *= (double)PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
    }
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return bytes >= LARGE;
}

/* `handle += other` and its siblings on XLA; returns as `written_on_xla`. */
static int
changed_on_xla(PyObject *op, PyObject *handle, PyObject *other)
{
    PyObject *operands[2] = {handle, other}, *lens = lens_on_xla(handle), *rare = SLOT(handle, array__extra), *before, *made, *payload;
    int done = 0;
    if (!IS_ARRAY(handle) || SLOT(op, op_outputs) != one || !(is_number(other) || IS_OURS(other)) || is_readonly(handle) ||
        (rare != Py_None && SLOT(rare, extra_leaf) != Py_None) || !mode_is_default() || (lens == NULL && owned_on_xla(handle) != NULL && is_large(owned_on_xla(handle))) ||
        (before = lens == NULL ? Py_XNewRef(owned_on_xla(handle)) : read_on_xla(handle)) == NULL) {
        return ERROR_OR_FALL_BACK;
    }
    made = applied(op, operands, 2, no_attrs, 0, NULL);
    payload = made == NULL ? NULL : SLOT(SLOT(made, array__value), value_payload);
    if (payload != NULL && IS(payload, xla_array_) && are_alike(payload, before) && keeps_its_place(before, payload)) {
        if (lens == NULL) {
            done = replaced(handle, Py_NewRef(SLOT(made, array__value)));
        }
        else {
            done = put_on_xla(SLOT(SLOT(handle, array__view), view_parent), SLOT(lens, lens_attrs), SLOT(lens, lens_operands), Py_NewRef(payload));
        }
    }
    Py_XDECREF(made);
    Py_DECREF(before);
    return done == 1 ? 1 : ERROR_OR_FALL_BACK;
}
