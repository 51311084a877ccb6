/* Call cache of public functions: calls with equal keys skip the Python function.

   A public function checks its arguments and applies an operator.  If its choice depends only on
   the classes, dtypes and numbers of axes of its operands, and on its other arguments, it ends with
   `apply_cached` in place of `apply`, which reports the operator.  The caller of the function then
   caches it with the key of the call.  The key of operators without operands includes the placement
   of new arrays.  In the same way a function that returns a view ends with `cache_view`, and its
   lens is cached for arrays of the same shape.

   Arguments in a Call are borrowed from the running call; a CachedCall owns its references.  Python
   code that runs in between may change the cache, so a CachedCall is copied before its use.  The
   promise that functions make is described in dispatch/apply.py. */

enum { MOST_ARGUMENTS = 12, MOST_CALLS = 8, MOST_VIEWED = 8, RARELY = 16, NO_ARRAY = -1 };

typedef struct {
    PyObject *op, *attrs;             /* an operator and its attributes, or a lens and None */
    npy_intp shape[MOST_VIEWED];      /* shape of the arrays that are viewed through the lens */
    PyObject *direct, *dtype;         /* NumPy's function for host operands, and the dtype of its result; or NULL */
    PyObject *names[MOST_ARGUMENTS];  /* keywords; NULL for positional arguments */
    PyObject *values[MOST_ARGUMENTS]; /* argument values, with classes in place of arrays */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, place, only_on_host, origins[MOST_OPERANDS];
    Py_ssize_t count, operands;
} CachedCall;

typedef struct {
    CachedCall *found[MOST_CALLS];
    int used;
    unsigned missed; /* calls that found the cache full: each `RARELY`th of them replaces an entry */
} CallCache;

/* Report of a running function: the operator that made its result.  Greenlets move the C stack away
   while a function runs, so a report lies on the heap and is counted.  Reports after the end of the
   function (`over`) are ignored. */
typedef struct {
    PyObject *op, *attrs, *operands, *made;
    int times, only_on_host, over;
    Py_ssize_t references;
} Report;

/* Key of a running call. */
typedef struct {
    PyObject *names[MOST_ARGUMENTS], *values[MOST_ARGUMENTS]; /* borrowed */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, place;
    Py_ssize_t count;
    PyObject *listed; /* tuple with the items of a list argument, owned */
} Call;

static PyObject *in_tuple, *in_list; /* markers before the arrays of a tuple or list argument */

#ifdef _MSC_VER
#define PER_THREAD __declspec(thread)
#else
#define PER_THREAD _Thread_local
#endif
static PER_THREAD Report *tls_current_call; /* a counted reference */

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
report_decref(Report *report)
{
    if (report != NULL && --report->references == 0) {
        Py_XDECREF(report->op);
        Py_XDECREF(report->attrs);
        Py_XDECREF(report->operands);
        Py_XDECREF(report->made);
        PyMem_Free(report);
    }
}

/* The report of the running function; NULL if there is none, or it is over. */
static Report *
current_report(void)
{
    return tls_current_call == NULL || tls_current_call->over ? NULL : tls_current_call;
}

/* Dtype, number of axes, and a bit for C order of an array or scalar with elements, in one number;
   NO_ARRAY for others and for errors.  A view on XLA is not computed for this. */
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

/* True for immutable arguments, which can be part of a key. */
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

/* Complete the key of a call; 0 if it can't be cached. */
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

/* Report an operator and its result to the running function, which caches the call if it returns
   that result. */
static void
note_apply(PyObject *op, PyObject *operands, PyObject *attrs, PyObject *made, int only_on_host)
{
    Report *report = current_report();
    if (report != NULL) {
        report->times++;
        report->only_on_host = only_on_host;
        report->references++; /* the decrefs below may run Python code */
        Py_XSETREF(report->made, Py_NewRef(made));
        Py_XSETREF(report->op, Py_NewRef(op));
        Py_XSETREF(report->operands, Py_NewRef(operands));
        Py_XSETREF(report->attrs, Py_NewRef(attrs));
        report_decref(report);
    }
}

/* Call NumPy's function on host operands; FALL_BACK also if it raises an Exception, since the slow
   path raises the right one. */
static PyObject * /* new */
call_direct(CachedCall *cached, PyObject *const *operands)
{
    PyObject *payloads[MOST_OPERANDS] = {NULL}, *made = NULL;
    Py_ssize_t i;
    for (i = 0; i < cached->operands; i++) {
        if ((payloads[i] = IS_OURS(operands[i]) ? current_array(operands[i]) : Py_NewRef(operands[i])) == NULL) {
            break;
        }
    }
    if (i == cached->operands) {
        made = as_array(PyObject_Vectorcall(cached->direct, payloads, i, NULL));
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
    if ((PyObject *)PyArray_DESCR((PyArrayObject *)made) != cached->dtype) {
        Py_DECREF(made);
        return FALL_BACK;
    }
    return wrapped_result(cached->op, made, 0);
}

/* True if a cached lens is for arrays of this shape, and the array is writeable. */
static int
lens_fits(CachedCall *cached, PyObject *handle)
{
    PyObject *array = is_readonly(handle) ? NULL : current_array(handle);
    int same = array != NULL && PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)array), cached->shape, PyArray_NDIM((PyArrayObject *)array));
    Py_XDECREF(array);
    return same;
}

/* Apply a cached operator without operands, with the placement of the key; FALL_BACK if there is no
   program. */
static PyObject * /* new */
construct_cached(CachedCall *cached)
{
    Operands none = {.count = 0};
    PyObject *made;
    if (cached->place == ON_HOST && cached->direct != NULL && !only_programs) {
        return call_direct(cached, NULL);
    }
    made = run_program(cached->op, &none, cached->attrs, cached->numpy_dtypes + (cached->place == ON_HOST ? host_programs : xla_programs));
    return made == NULL ? NULL : wrapped_result(cached->op, made, 0);
}

/* Apply an operator without operands by NumPy's constructor, if new arrays are placed on the host.
   */
static PyObject * /* new */
construct_by_numpy(PyObject *op, PyObject *attrs)
{
    PyObject *mode, *constructor, *made;
    int place;
    if (SLOT(op, op_numpy_constructor) == Py_None || SLOT(op, op_outputs) != one || !is_constant(attrs) || (mode = default_mode_or_null()) == NULL) {
        return FALL_BACK;
    }
    place = place_of(mode);
    Py_DECREF(mode);
    if (place != ON_HOST || (constructor = PyObject_CallObject(SLOT(op, op_numpy_constructor), attrs)) == NULL) {
        return NULL;
    }
    made = as_array(PyObject_CallNoArgs(constructor));
    Py_DECREF(constructor);
    return made == NULL ? NULL : wrapped_result(op, made, 0);
}

/* Answer a call by a cached one.  Another thread may drop that meanwhile, so a copy with owned
   references is used. */
static PyObject * /* new */
call_from_cache(CachedCall *cached, Call *call)
{
    PyObject *operands[MOST_OPERANDS], *made = FALL_BACK, *operands_tuple;
    CachedCall held = *cached;
    Py_INCREF(held.op);
    Py_INCREF(held.attrs);
    Py_XINCREF(held.direct);
    Py_XINCREF(held.dtype);
    for (Py_ssize_t i = 0; i < held.operands; i++) {
        operands[i] = call->values[held.origins[i]];
    }
    if (held.attrs == Py_None) {
        made = lens_fits(&held, operands[0]) ? view_through(operands[0], held.op) : FALL_BACK;
    }
    else if (held.operands == 0) {
        made = construct_cached(&held);
    }
    else if (held.direct != NULL && !only_programs) {
        made = call_direct(&held, operands);
    }
    if (made == NULL && held.attrs != Py_None && !held.only_on_host && !PyErr_Occurred()) {
        made = applied(held.op, operands, held.operands, held.attrs, 0, NULL);
    }
    if (made != NULL && current_report() != NULL) {
        if ((operands_tuple = PyTuple_New(held.operands)) == NULL) {
            Py_CLEAR(made);
        }
        else {
            for (Py_ssize_t i = 0; i < held.operands; i++) {
                PyTuple_SET_ITEM(operands_tuple, i, Py_NewRef(operands[i]));
            }
            note_apply(held.op, operands_tuple, held.attrs, made, held.only_on_host);
            Py_DECREF(operands_tuple);
        }
    }
    Py_DECREF(held.op);
    Py_DECREF(held.attrs);
    Py_XDECREF(held.direct);
    Py_XDECREF(held.dtype);
    return made;
}

static PyObject * /* new */
cache_lookup(CallCache *cache, Call *call)
{
    for (int at = 0; at < cache->used; at++) {
        CachedCall *cached = cache->found[at];
        int same = cached->count == call->count && cached->numpy_dtypes == call->numpy_dtypes && cached->place == call->place;
        for (Py_ssize_t i = 0; same && i < call->count; i++) {
            PyObject *value = call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]);
            same = cached->names[i] == call->names[i] && cached->kinds[i] == call->kinds[i] && is_same(cached->values[i], value);
        }
        if (same) {
            int looks = cached->attrs == Py_None;
            PyObject *made = call_from_cache(cached, call);
            if (made != NULL || PyErr_Occurred() || !looks) {
                return made; /* else another entry may hold the lens for this shape */
            }
        }
    }
    return FALL_BACK;
}

static void
cache_drop(CachedCall *cached)
{
    if (cached != NULL) {
        Py_XDECREF(cached->op);
        Py_XDECREF(cached->attrs);
        Py_XDECREF(cached->direct);
        Py_XDECREF(cached->dtype);
        for (Py_ssize_t i = 0; i < cached->count; i++) {
            Py_XDECREF(cached->names[i]);
            Py_XDECREF(cached->values[i]);
        }
        PyMem_Free(cached);
    }
}

static void
cache_clear(CallCache *cache)
{
    while (cache->used > 0) {
        cache_drop(cache->found[--cache->used]);
    }
}

static int
cache_visit(CallCache *cache, visitproc visit, void *arg)
{
    for (int at = 0; at < cache->used; at++) {
        CachedCall *cached = cache->found[at];
        Py_VISIT(cached->op);
        Py_VISIT(cached->attrs);
        Py_VISIT(cached->direct);
        for (Py_ssize_t i = 0; i < cached->count; i++) {
            Py_VISIT(cached->values[i]);
        }
    }
    return 0;
}

/* Cache a call with the report of its function.  Each operand must be an argument, and each array
   argument an operand. */
static void
cache_insert(CallCache *cache, Call *call, Report *report)
{
    CachedCall *cached;
    PyObject *found = Py_None, *direct = NULL, *dtype = NULL, *array = NULL;
    Py_ssize_t operands = PyTuple_GET_SIZE(report->operands);
    unsigned used = 0;
    int origins[MOST_OPERANDS], axes = 0;
    if (operands > MOST_OPERANDS || (operands == 0) != (call->place != BESIDE_OPERANDS) || (cache->used == MOST_CALLS && ++cache->missed % RARELY)) {
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
            return; /* no program on XLA: it is made on the host, and transferred */
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
    if ((cached = PyMem_Calloc(1, sizeof(CachedCall))) == NULL) {
        Py_DECREF(found);
        Py_XDECREF(array);
        return;
    }
    if (array != NULL) {
        if (axes > 0) { /* PyArray_DIMS of a 0-d array may be NULL */
            memcpy(cached->shape, PyArray_DIMS((PyArrayObject *)array), axes * sizeof(npy_intp));
        }
        Py_DECREF(array);
    }
    cached->op = Py_NewRef(report->op);
    cached->attrs = Py_NewRef(report->attrs);
    cached->direct = Py_XNewRef(direct);
    cached->dtype = Py_XNewRef(dtype);
    Py_DECREF(found);
    cached->numpy_dtypes = call->numpy_dtypes;
    cached->place = call->place;
    cached->only_on_host = report->only_on_host;
    cached->count = call->count;
    cached->operands = operands;
    memcpy(cached->origins, origins, sizeof(origins));
    for (Py_ssize_t i = 0; i < call->count; i++) {
        cached->names[i] = Py_XNewRef(call->names[i]);
        cached->kinds[i] = call->kinds[i];
        cached->values[i] = Py_NewRef(call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]));
    }
    if (cache->used < MOST_CALLS) {
        cache->found[cache->used++] = cached;
    }
    else {
        unsigned place = cache->missed / RARELY % MOST_CALLS;
        CachedCall *before = cache->found[place];
        cache->found[place] = cached;
        cache_drop(before);
    }
}

/* Make the key of a call; 1 if the call can be cached. */
static int
cache_key_init(Call *call)
{
    PyObject *mode = default_mode_or_null();
    int is_cacheable;
    if (mode == NULL) {
        return 0;
    }
    call->numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    is_cacheable = cacheable(call, mode);
    Py_DECREF(mode);
    return is_cacheable;
}

/* Call a function with keyword arguments in the dict `named` or by the tuple `keywords`; a report,
   if given, receives what it notes. */
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
    report_decref(inner); /* the same as `report`, unless greenlets have switched */
    return made;
}

/* Call a public function through its cache. */
static PyObject * /* new */
called(PyObject *function, PyObject *const *args, size_t flags, PyObject *named, PyObject *keywords, CallCache *cache)
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
    else if ((made = cache_lookup(cache, &call)) == NULL && !PyErr_Occurred()) {
        if ((report = report_new()) == NULL) {
            PyErr_NoMemory();
        }
        else {
            made = call_and_observe(function, args, flags, named, keywords, report);
        }
        if (made != NULL && report->times == 1 && made == report->made) {
            cache_insert(cache, &call, report);
            note_apply(report->op, report->operands, report->attrs, made, report->only_on_host);
        }
    }
    Py_XDECREF(call.listed);
    report_decref(report);
    return made;
}
