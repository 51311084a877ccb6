/* State of the module: the objects that `connect` hands over, and the offsets of their classes'
   slots.

   Objects in static variables are owned references, for the life of the process; SLOT reads
   borrowed ones.  `wiring.py` lists what is handed over. */

enum {
    DEEPEST_VIEW = 32,   /* depth above which Python shortens a chain of views: `DEEPEST` of indexing/lens.py */
    DEEPEST_CHAIN = 256, /* maximum depth of a chain here, even if it can't be shortened */
    MOST_OPERANDS = 8,
    MOST_SCALARS = 24,   /* type numbers of NumPy's numbers are smaller */
    EXTENDED = 256 /* first type number of dtypes that are not NumPy's own */
};

/* Objects that `connect` takes: classes, the ContextVar of modes and the list with its default,
   functions, constants. */
#define CONNECTIONS(DO)                                                                                                     \
    DO(array) DO(scalar) DO(host_scalars) DO(value) DO(view) DO(extra) DO(key_lens) DO(op) DO(xla_array) DO(mode_variable) DO(default_mode)  \
    DO(slow_path) DO(read) DO(raise_failed) DO(on_devices) DO(xla_scalar) DO(x64_scopes) DO(exit_x64_scope) DO(keep) DO(clock) DO(call_errors)     \
    DO(no_value) DO(numpy_function) DO(node) DO(later) DO(sequence) DO(config) DO(on_host) DO(lens) DO(index_get) DO(index_put)          \
    DO(index_look) DO(whole_axis) DO(no_axis) DO(new_axis) DO(slice_kind) DO(first) DO(updating) DO(state) DO(traced)             \
    DO(program_cache) DO(borrowed_value) DO(export) DO(release_buffer) DO(several) DO(on_one_device) DO(block_on_cpu_mesh) DO(warn_of_precision) DO(pending) DO(raise_pending) DO(check_pending) DO(expect) DO(main_thread) \
    DO(guards) DO(changes) DO(program_lock) DO(transfer_to_xla) DO(no_cached_run) DO(captured_type_error)

#define DECLARE(name) static PyObject *name##_;
CONNECTIONS(DECLARE)

#define ENTRY(name) {#name, &name##_},
static struct {
    const char *name;
    PyObject **place;
} const connections[] = {CONNECTIONS(ENTRY){NULL, NULL}};

/* Slots of Python classes, whose offsets are kept in variables `class_slot`. */
#define SLOTS(DO)                                                                                                           \
    DO(array, _value) DO(array, _view) DO(array, _extra) DO(value, payload) DO(value, node) DO(value, index)                \
    DO(view, cached) DO(view, depth) DO(view, lens) DO(view, parent) DO(view, root) DO(view, version)                       \
    DO(key_lens, key) DO(key_lens, shape) DO(extra, leaf) DO(extra, readonly) DO(extra, version)               \
    DO(extra, layout) DO(extra, grad_handle) DO(op, differentiable) DO(node, op) DO(node, attrs) DO(node, inputs) DO(node, mask)                   \
    DO(node, pullback) DO(node, outputs) DO(node, sequence)                                                                                                       \
    DO(state, recomputable) DO(state, given) DO(state, handles) DO(state, payloads) DO(state, places) DO(state, read_only)           \
    DO(state, lazy_values) DO(state, values) DO(state, version) DO(traced, alone) DO(traced, errors) DO(traced, key) DO(traced, numpy_dtypes)        \
    DO(traced, op) DO(traced, programs) DO(traced, pure) DO(traced, state) DO(traced, training) DO(traced, guards) DO(traced, differentiates)          \
    DO(guards, always) DO(guards, stamp)                                                                                     \
    DO(lens, attrs) DO(lens, get) DO(lens, look) DO(lens, operands) DO(lens, put)                                           \
    DO(op, ufunc) DO(op, outputs) DO(op, scalars) DO(op, prefers_xla) DO(op, programs) DO(op, rule) DO(op, inputs) DO(op, numpy_constructor) \
    DO(program_cache, direct) DO(borrowed_value, buffer) DO(borrowed_value, users) DO(borrowed_value, escaped)

#define DECLARE_SLOT(type, name) static Py_ssize_t type##_##name;
SLOTS(DECLARE_SLOT)

#define SLOT_ENTRY(type, name) {&type##_, #name, &type##_##name},
static struct {
    PyObject **type;
    const char *name;
    Py_ssize_t *offset;
} const slots[] = {SLOTS(SLOT_ENTRY){NULL, NULL, NULL}};

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static PyTypeObject *scalar_classes[MOST_SCALARS]; /* classes of scalars on the host by NumPy's type numbers; some are NULL */
static int connected;
static Py_ssize_t is_default_at, only_recording_at, training_at, numpy_dtypes_at, device_at, backend_at; /* fields of modes */
/* Positions of the first table of each kind in `ProgramCache.direct`, for the default dtype policy;
   NumPy's is the next. */
static Py_ssize_t xla_programs, host_programs, donating_programs;
static int binary_op;                        /* opcode of BINARY_OP */
static int only_programs;                    /* an autocast policy is in force, which NumPy's own functions would ignore */
static PyObject *zero, *one, *no_attrs, *out_keyword;
static PyObject *default_device_name, *device_name, *backend_name;
static PyObject *out_name, *dtype_name, *aval_name, *shape_name, *sharding_name, *payload_name, *on_host_name, *is_default_name, *dunder_name, *only_recording_name, *training_name, *numpy_dtypes_name;
static PyObject *acquire_name, *release_name, *hold_name, *rerun_name, *finished_name, *name_name;

#define FALL_BACK NULL /* the slow path is needed; no error is set */
