/* Calls that are remembered: a part of `_native.c`. */

/* A function of Python's looks at its arguments and applies an operator.  Where that depends on nothing but the classes, dtypes and
   numbers of axes of its operands, and on its other arguments, it says so, by `remembered` in place of `apply`; calls alike are short then.
   What has no operands depends on where new arrays are placed, too.
   In the same way one that returns a view says by `seen` through which lens all arrays of the shape are seen. */

enum { BESIDE_OPERANDS, ON_HOST, ON_XLA };
enum { MOST_ARGUMENTS = 12, MOST_CALLS = 8, MOST_VIEWED = 8, RARELY = 16, NO_ARRAY = -1 };

typedef struct {
    PyObject *op, *attrs;             /* an operator and its attributes; a lens and None */
    npy_intp shape[MOST_VIEWED];      /* of what is seen through the lens */
    PyObject *direct, *dtype; /* what computes it of arrays of NumPy's, which need not be cast, and what it returns; or NULL */
    PyObject *names[MOST_ARGUMENTS];  /* NULL for what is given by position */
    PyObject *values[MOST_ARGUMENTS]; /* classes in place of arrays */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, place, only_on_host, origins[MOST_OPERANDS];
    Py_ssize_t count, operands;
} CachedCall;

typedef struct {
    CachedCall *found[MOST_CALLS];
    int used;
    unsigned missed; /* calls for which there was no place: each `RARELY`th takes that of another */
} CallCache;

/* What a function says while it runs: which operator made its result.  Greenlets move the C stack away while a function runs, so this lies
   on the heap, and is counted; what is said when the function is over is for nobody. */
typedef struct {
    PyObject *op, *attrs, *operands, *made;
    int times, only_on_host, over;
    Py_ssize_t references;
} Report;

/* A call that is not remembered yet. */
typedef struct {
    PyObject *names[MOST_ARGUMENTS], *values[MOST_ARGUMENTS]; /* borrowed */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, place;
    Py_ssize_t count;
    PyObject *listed; /* what lists hold, which may change */
} Call;

static PyObject *in_tuple, *in_list; /* stand in front of the arrays in one */

#ifdef _MSC_VER
#define PER_THREAD __declspec(thread)
#else
#define PER_THREAD _Thread_local
#endif
static PER_THREAD Report *tls_current_call; /* counted */

static Report *
report_new(void)
{
    Report *report = PyMem_Calloc(1, sizeof(Report));
    if (report != NULL) {
        report->references = 1;
    }
    return report;
}

static void
report_let_go(Report *report)
{
    if (report != NULL && --report->references == 0) {
        Py_XDECREF(report->op);
        Py_XDECREF(report->attrs);
        Py_XDECREF(report->operands);
        Py_XDECREF(report->made);
        PyMem_Free(report);
    }
}

/* The report of the function around; NULL if nobody listens. */
static Report *
listening(void)
{
    return tls_current_call == NULL || tls_current_call->over ? NULL : tls_current_call;
}

/* The dtype and the number of axes of an array or scalar with elements, and whether it is known to lie in C order, in one number; NO_ARRAY
   for others, and errors.  What a view on XLA looks at is not computed for this. */
static int
kind_of(PyObject *handle)
{
    PyObject *rare = SLOT(handle, array__extra), *view = SLOT(handle, array__view);
    PyObject *shape = NULL, *dtype = NULL, *lens = NULL, *payload;
    int own = view == Py_None && (rare == Py_None || SLOT(rare, extra_layout) == Py_None), kind = NO_ARRAY;
    if ((payload = current_array(handle)) != NULL) {
        if (PyArray_SIZE((PyArrayObject *)payload) > 0 && is_common(PyArray_DESCR((PyArrayObject *)payload))) {
            own = own && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)payload);
            kind = TYPE_NUMBER(payload) << 8 | own << 7 | PyArray_NDIM((PyArrayObject *)payload);
        }
        Py_DECREF(payload);
        return kind;
    }
    if (PyErr_Occurred()) {
        return NO_ARRAY;
    }
    if (view != Py_None) {
        lens = lens_on_xla(handle);
        payload = lens == NULL ? NULL : Py_NewRef(owned_on_xla(SLOT(view, view_parent)));
    }
    else {
        payload = payload_of(SLOT(handle, array__value));
    }
    if (payload == NULL) {
        return NO_ARRAY;
    }
    if (IS(payload, xla_array_) && (dtype = dtype_of(payload)) != NULL && (shape = shape_of(payload)) != NULL && PyTuple_Check(shape) &&
        PyArray_DescrCheck(dtype)) {
        int ndim = lens == NULL ? (int)PyTuple_GET_SIZE(shape) : axes_seen(lens), empty = ndim < 0;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
            empty |= PyTuple_GET_ITEM(shape, i) == zero;
        }
        kind = empty ? NO_ARRAY : ((PyArray_Descr *)dtype)->type_num << 8 | own << 7 | ndim;
    }
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_DECREF(payload);
    return kind;
}

/* Whether an argument means the same forever. */
static int
is_constant(PyObject *given)
{
    if (PyTuple_CheckExact(given)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
            if (!is_constant(PyTuple_GET_ITEM(given, i))) {
                return 0;
            }
        }
        return 1;
    }
    return given == Py_None || given == no_value_ || given == in_tuple || given == in_list || given == Py_Ellipsis ||
           PyUnicode_CheckExact(given) || PyBool_Check(given) || PyLong_CheckExact(given) || PyFloat_CheckExact(given) ||
           PyArray_DescrCheck(given) || PyType_CheckExact(given);
}

static int
is_same(PyObject *a, PyObject *b)
{
    if (a == b) {
        return 1;
    }
    if (Py_TYPE(a) != Py_TYPE(b)) {
        return 0;
    }
    if (PyTuple_CheckExact(a)) {
        int same = PyTuple_GET_SIZE(a) == PyTuple_GET_SIZE(b);
        for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(a); i++) {
            same = is_same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));
        }
        return same;
    }
    if (PyFloat_CheckExact(a)) {
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval, sizeof(double)) == 0;
    }
    return (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

static int
add_value(Call *call, PyObject *name, PyObject *value)
{
    if (call->count == MOST_ARGUMENTS) {
        return 0;
    }
    call->names[call->count] = name;
    call->values[call->count++] = value;
    return 1;
}

/* Add an argument, or the arrays in a tuple or a list; 0 if there are too many. */
static int
add_argument(Call *call, PyObject *name, PyObject *value)
{
    int fits, is_list = PyList_CheckExact(value);
    if (is_list && PyList_GET_SIZE(value) > 0 && IS_OURS(PyList_GET_ITEM(value, 0))) {
        if (call->listed != NULL || (value = call->listed = PyList_AsTuple(value)) == NULL) {
            return 0;
        }
    }
    else if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) == 0 || !IS_OURS(PyTuple_GET_ITEM(value, 0))) {
        return add_value(call, name, value);
    }
    fits = add_value(call, name, is_list ? in_list : in_tuple);
    for (Py_ssize_t i = 0; fits && i < PyTuple_GET_SIZE(value); i++) {
        fits = IS_OURS(PyTuple_GET_ITEM(value, i)) && add_value(call, NULL, PyTuple_GET_ITEM(value, i));
    }
    return fits && add_value(call, NULL, in_tuple);
}

/* Where new arrays go in a mode; -1 if that is not the default device, and errors. */
static int
place_of(PyObject *mode)
{
    static PyObject *known_mode, *known_device;
    static int known;
    PyObject *chosen, *host;
    if (PyTuple_GET_ITEM(mode, device_at) != Py_None || (chosen = PyObject_GetAttr(config_, default_device_name)) == NULL) {
        return -1;
    }
    if (mode != known_mode || chosen != known_device) {
        if ((host = PyObject_CallOneArg(on_host_, mode)) == NULL) {
            Py_DECREF(chosen);
            return -1;
        }
        known = host == Py_True ? ON_HOST : host == Py_False ? ON_XLA : -1;
        Py_DECREF(host);
        Py_XSETREF(known_mode, Py_NewRef(mode));
        Py_XSETREF(known_device, Py_NewRef(chosen));
    }
    Py_DECREF(chosen);
    return known;
}

/* What is needed to remember a call in a mode; 0 if it can't be. */
static int
cacheable(Call *call, PyObject *mode)
{
    int arrays = 0;
    for (Py_ssize_t i = 0; i < call->count; i++) {
        call->kinds[i] = NO_ARRAY;
        if (IS_OURS(call->values[i])) {
            arrays = 1;
            if ((call->kinds[i] = kind_of(call->values[i])) == NO_ARRAY) {
                return 0;
            }
        }
        else if (!is_constant(call->values[i])) {
            return 0;
        }
    }
    call->place = arrays ? BESIDE_OPERANDS : place_of(mode);
    return call->place >= 0;
}

/* Tell the function around this one, which remembers it if it returns the same. */
static void
note_apply(PyObject *op, PyObject *operands, PyObject *attrs, PyObject *made, int only_on_host)
{
    Report *report = listening();
    if (report != NULL) {
        report->times++;
        report->only_on_host = only_on_host;
        report->references++; /* what is let go of here may run other code */
        Py_XSETREF(report->made, Py_NewRef(made));
        Py_XSETREF(report->op, Py_NewRef(op));
        Py_XSETREF(report->operands, Py_NewRef(operands));
        Py_XSETREF(report->attrs, Py_NewRef(attrs));
        report_let_go(report);
    }
}

/* What a function of NumPy's own makes of operands on the host; FALL_BACK, also where it raises something, which the whole way explains. */
static PyObject * /* new */
directly(CachedCall *memory, PyObject *const *operands)
{
    PyObject *payloads[MOST_OPERANDS] = {NULL}, *made = NULL;
    Py_ssize_t i;
    for (i = 0; i < memory->operands; i++) {
        if ((payloads[i] = IS_OURS(operands[i]) ? current_array(operands[i]) : Py_NewRef(operands[i])) == NULL) {
            break;
        }
    }
    if (i == memory->operands) {
        made = as_array(PyObject_Vectorcall(memory->direct, payloads, i, NULL));
    }
    while (i > 0) {
        Py_DECREF(payloads[--i]);
    }
    if (made == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear();
        }
        return NULL;
    }
    if ((PyObject *)PyArray_DESCR((PyArrayObject *)made) != memory->dtype) {
        Py_DECREF(made);
        return FALL_BACK;
    }
    return wrapped_result(memory->op, made);
}

/* Whether a lens is for arrays of this shape, and the array can be seen through it as every other. */
static int
is_seen(CachedCall *memory, PyObject *handle)
{
    PyObject *array = is_readonly(handle) ? NULL : current_array(handle);
    int same = array != NULL && PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)array), memory->shape, PyArray_NDIM((PyArrayObject *)array));
    Py_XDECREF(array);
    return same;
}

/* What an operator makes of no operands, where new arrays go; FALL_BACK if there is no program. */
static PyObject * /* new */
made_anew(CachedCall *memory)
{
    Operands none = {.count = 0};
    PyObject *made;
    if (memory->place == ON_HOST && memory->direct != NULL && !only_programs) {
        return directly(memory, NULL);
    }
    made = run_program(memory->op, &none, memory->attrs, memory->numpy_dtypes + (memory->place == ON_HOST ? host_programs : xla_programs));
    return made == NULL ? NULL : wrapped_result(memory->op, made);
}

/* What NumPy's own function makes of no operands, where new arrays are on the host. */
static PyObject * /* new */
made_by_numpy(PyObject *op, PyObject *attrs)
{
    PyObject *mode, *maker, *made;
    int place;
    if (SLOT(op, op_numpy_constructor) == Py_None || SLOT(op, op_outputs) != one || !is_constant(attrs) || (mode = default_mode_or_null()) == NULL) {
        return FALL_BACK;
    }
    place = place_of(mode);
    Py_DECREF(mode);
    if (place != ON_HOST || (maker = PyObject_CallObject(SLOT(op, op_numpy_constructor), attrs)) == NULL) {
        return NULL;
    }
    made = as_array(PyObject_CallNoArgs(maker));
    Py_DECREF(maker);
    return made == NULL ? NULL : wrapped_result(op, made);
}

/* Do for a call what was done for one like it.  Another thread may forget that meanwhile. */
static PyObject * /* new */
done_again(CachedCall *memory, Call *call)
{
    PyObject *operands[MOST_OPERANDS], *made = FALL_BACK, *told;
    CachedCall held = *memory;
    Py_INCREF(held.op);
    Py_INCREF(held.attrs);
    Py_XINCREF(held.direct);
    Py_XINCREF(held.dtype);
    for (Py_ssize_t i = 0; i < held.operands; i++) {
        operands[i] = call->values[held.origins[i]];
    }
    if (held.attrs == Py_None) {
        made = is_seen(&held, operands[0]) ? view_through(operands[0], held.op) : FALL_BACK;
    }
    else if (held.operands == 0) {
        made = made_anew(&held);
    }
    else if (held.direct != NULL && !only_programs) {
        made = directly(&held, operands);
    }
    if (made == NULL && held.attrs != Py_None && !held.only_on_host && !PyErr_Occurred()) {
        made = applied(held.op, operands, held.operands, held.attrs, 0, NULL);
    }
    if (made != NULL && listening() != NULL) {
        if ((told = PyTuple_New(held.operands)) == NULL) {
            Py_CLEAR(made);
        }
        else {
            for (Py_ssize_t i = 0; i < held.operands; i++) {
                PyTuple_SET_ITEM(told, i, Py_NewRef(operands[i]));
            }
            note_apply(held.op, told, held.attrs, made, held.only_on_host);
            Py_DECREF(told);
        }
    }
    Py_DECREF(held.op);
    Py_DECREF(held.attrs);
    Py_XDECREF(held.direct);
    Py_XDECREF(held.dtype);
    return made;
}

static PyObject * /* new */
cache_lookup(CallCache *memories, Call *call)
{
    for (int at = 0; at < memories->used; at++) {
        CachedCall *memory = memories->found[at];
        int same = memory->count == call->count && memory->numpy_dtypes == call->numpy_dtypes && memory->place == call->place;
        for (Py_ssize_t i = 0; same && i < call->count; i++) {
            PyObject *value = call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]);
            same = memory->names[i] == call->names[i] && memory->kinds[i] == call->kinds[i] && is_same(memory->values[i], value);
        }
        if (same) {
            int looks = memory->attrs == Py_None;
            PyObject *made = done_again(memory, call);
            if (made != NULL || PyErr_Occurred() || !looks) {
                return made; /* arrays of another shape may be seen through the next one's lens */
            }
        }
    }
    return FALL_BACK;
}

static void
cache_drop(CachedCall *memory)
{
    if (memory != NULL) {
        Py_XDECREF(memory->op);
        Py_XDECREF(memory->attrs);
        Py_XDECREF(memory->direct);
        Py_XDECREF(memory->dtype);
        for (Py_ssize_t i = 0; i < memory->count; i++) {
            Py_XDECREF(memory->names[i]);
            Py_XDECREF(memory->values[i]);
        }
        PyMem_Free(memory);
    }
}

static void
forget_all(CallCache *memories)
{
    while (memories->used > 0) {
        cache_drop(memories->found[--memories->used]);
    }
}

static int
visit_memories(CallCache *memories, visitproc visit, void *arg)
{
    for (int at = 0; at < memories->used; at++) {
        CachedCall *memory = memories->found[at];
        Py_VISIT(memory->op);
        Py_VISIT(memory->attrs);
        Py_VISIT(memory->direct);
        for (Py_ssize_t i = 0; i < memory->count; i++) {
            Py_VISIT(memory->values[i]);
        }
    }
    return 0;
}

/* Remember what a function has said of a call.  Each operand has to be an argument, and each array an operand, and only one. */
static void
remember(CallCache *memories, Call *call, Report *report)
{
    CachedCall *memory;
    PyObject *found = Py_None, *direct = NULL, *dtype = NULL, *array = NULL;
    Py_ssize_t operands = PyTuple_GET_SIZE(report->operands);
    unsigned used = 0;
    int origins[MOST_OPERANDS], axes = 0;
    if (operands > MOST_OPERANDS || (operands == 0) != (call->place != BESIDE_OPERANDS) || (memories->used == MOST_CALLS && ++memories->missed % RARELY)) {
        return;
    }
    for (Py_ssize_t i = 0; i < operands; i++) {
        int at = 0;
        while (at < call->count && call->values[at] != PyTuple_GET_ITEM(report->operands, i)) {
            at++;
        }
        if (at == call->count) {
            return;
        }
        origins[i] = at;
        used |= 1u << at;
    }
    for (Py_ssize_t i = 0; i < call->count; i++) {
        if (call->kinds[i] != NO_ARRAY && !(used & 1u << i)) {
            return;
        }
    }
    if (report->attrs == Py_None) {
        if ((array = current_array(PyTuple_GET_ITEM(report->operands, 0))) == NULL || (axes = PyArray_NDIM((PyArrayObject *)array)) > MOST_VIEWED) {
            Py_XDECREF(array);
            PyErr_Clear();
            return;
        }
        Py_INCREF(found);
    }
    else if (call->place == ON_XLA) {
        PyObject *programs = programs_of(report->op, xla_programs + call->numpy_dtypes);
        if (SLOT(report->op, op_outputs) != one || PyDict_GetItem(programs, report->attrs) == NULL) {
            return; /* it is made on the host, and placed */
        }
        Py_INCREF(found);
    }
    else {
        found = PyObject_CallFunctionObjArgs(numpy_function_, report->op, report->attrs, report->operands, NULL);
    }
    if (found == Py_None && report->only_on_host) {
        Py_DECREF(found);
        return;
    }
    if (found == NULL || (found != Py_None && !PyArg_ParseTuple(found, "OO", &direct, &dtype))) {
        PyErr_WriteUnraisable(report->op);
        Py_XDECREF(found);
        return;
    }
    if ((memory = PyMem_Calloc(1, sizeof(CachedCall))) == NULL) {
        Py_DECREF(found);
        Py_XDECREF(array);
        return;
    }
    if (array != NULL) {
        if (axes > 0) { /* an array without axes has no lengths to copy from */
            memcpy(memory->shape, PyArray_DIMS((PyArrayObject *)array), axes * sizeof(npy_intp));
        }
        Py_DECREF(array);
    }
    memory->op = Py_NewRef(report->op);
    memory->attrs = Py_NewRef(report->attrs);
    memory->direct = Py_XNewRef(direct);
    memory->dtype = Py_XNewRef(dtype);
    Py_DECREF(found);
    memory->numpy_dtypes = call->numpy_dtypes;
    memory->place = call->place;
    memory->only_on_host = report->only_on_host;
    memory->count = call->count;
    memory->operands = operands;
    memcpy(memory->origins, origins, sizeof(origins));
    for (Py_ssize_t i = 0; i < call->count; i++) {
        memory->names[i] = Py_XNewRef(call->names[i]);
        memory->kinds[i] = call->kinds[i];
        memory->values[i] = Py_NewRef(call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]));
    }
    if (memories->used < MOST_CALLS) {
        memories->found[memories->used++] = memory;
    }
    else {
        unsigned place = memories->missed / RARELY % MOST_CALLS;
        CachedCall *before = memories->found[place];
        memories->found[place] = memory;
        cache_drop(before);
    }
}

/* Begin a call: 1 if it can be remembered, or is. */
static int
cache_key_init(Call *call)
{
    PyObject *mode = default_mode_or_null();
    int memorable;
    if (mode == NULL) {
        return 0;
    }
    call->numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    memorable = cacheable(call, mode);
    Py_DECREF(mode);
    return memorable;
}

/* Call a function, with `named` arguments in a dict, or named by a tuple of `keywords`.  What it says is for the report, or for nobody. */
static PyObject * /* new */
call_and_observe(PyObject *function, PyObject *const *args, size_t flags, PyObject *named, PyObject *keywords, Report *report)
{
    Report *outer = tls_current_call, *inner;
    PyObject *made;
    if (report != NULL) {
        report->references++;
    }
    tls_current_call = report;
    made = named == NULL ? PyObject_Vectorcall(function, args, flags, keywords) : PyObject_VectorcallDict(function, args, flags, named);
    inner = tls_current_call;
    tls_current_call = outer;
    if (report != NULL) {
        report->over = 1;
    }
    report_let_go(inner); /* the same, but where greenlets have switched */
    return made;
}

/* Call a function that may say that the call can be remembered, if it is not. */
static PyObject * /* new */
called(PyObject *function, PyObject *const *args, size_t flags, PyObject *named, PyObject *keywords, CallCache *memories)
{
    Call call = {.count = 0, .listed = NULL};
    Report *report = NULL;
    PyObject *made = NULL, *name, *value;
    Py_ssize_t at = 0, count = PyVectorcall_NARGS(flags);
    int fits = 1;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        fits = add_argument(&call, NULL, args[i]);
    }
    for (Py_ssize_t i = 0; fits && keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++) {
        fits = add_argument(&call, PyTuple_GET_ITEM(keywords, i), args[count + i]);
    }
    while (fits && named != NULL && PyDict_Next(named, &at, &name, &value)) {
        fits = add_argument(&call, name, value);
    }
    if (!fits || !cache_key_init(&call)) {
        made = PyErr_Occurred() ? NULL : call_and_observe(function, args, flags, named, keywords, NULL);
    }
    else if ((made = cache_lookup(memories, &call)) == NULL && !PyErr_Occurred()) {
        if ((report = report_new()) == NULL) {
            PyErr_NoMemory();
        }
        else {
            made = call_and_observe(function, args, flags, named, keywords, report);
        }
        if (made != NULL && report->times == 1 && made == report->made) {
            remember(memories, &call, report);
            note_apply(report->op, report->operands, report->attrs, made, report->only_on_host);
        }
    }
    Py_XDECREF(call.listed);
    report_let_go(report);
    return made;
}
