"""MXNet's module paths: where the names of each are found here, and what replaces the others."""

import importlib
from dataclasses import dataclass, field
from typing import Any

from npcompat._internal.support.argument_errors import closest


@dataclass(frozen=True)
class Path:
    """Names of one module of MXNet.

    Parameters
    ----------
    homes : tuple of str
        Modules of which all public names are found under the path.
    names : dict
        Further names, each with `module:name` of what it stands for.
    instead : dict
        Names of MXNet that are not here, each with what to use.
    otherwise : str
        What to use for any other name.
    whole : str, optional
        The module in whose place the path stands.
    """

    homes: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)
    otherwise: str = ""
    whole: str | None = None

    @property
    def origin(self) -> str:
        """Modules in which the names are defined."""
        used = [self.whole] if self.whole else [*self.homes]
        used += [home.partition(":")[0] for home in self.names.values()]
        return ", ".join(dict.fromkeys(used)) or "none is here"

    def public(self) -> list[str]:
        """Names that are here."""
        homes = [importlib.import_module(home).__all__ for home in self.homes]
        return sorted({*self.names, *[name for names in homes for name in names]})

    def find(self, path: str, name: str) -> Any:
        """Return what a name stands for; raise AttributeError with a replacement if nothing."""
        if name in self.names:
            home, _, attribute = self.names[name].partition(":")
            return getattr(importlib.import_module(home), attribute)
        for home in self.homes:
            module = importlib.import_module(home)
            if name in module.__all__:
                return getattr(module, name)
        instead = self.instead.get(name, self.otherwise)
        meant = None if instead else closest(name, self.public())
        hint = f"; use {instead}" if instead else f"; did you mean {meant!r}?" if meant else ""
        raise AttributeError(f"module {path!r} has no attribute {name!r}{hint}")


def _of(home: str, *names: str) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


_NP, _NPX, _GLUON = "npcompat.numpy", "npcompat.numpy_extension", "npcompat.gluon"
_VISION = f"{_GLUON}.data.vision"
_ESTIMATOR = f"{_GLUON}.contrib.estimator"
_NN = f"{_GLUON}.nn"
_OPTIMIZERS = {
    name.lower(): name
    for name in (
        "AdaBelief", "AdaDelta", "AdaGrad", "Adam", "Adamax", "AdamW", "DCASGD", "FTML", "Ftrl",
        "LAMB", "LANS", "LARS", "NAG", "Nadam", "RMSProp", "SGD", "SGLD", "Signum",
    )
}  # fmt: skip
_DEVICES = _of(_NPX, "Device", "cpu", "cpu_pinned", "gpu", "gpu_memory_info", "num_gpus")
_OLD_ARRAYS = Path(
    names={
        **_of(_NPX, "from_dlpack", "from_numpy", "load", "to_dlpack_for_read"),
        **_of(_NPX, "to_dlpack_for_write", "waitall"),
        **_of(_NP, "arange", "array", "empty", "full", "nansum", "ndarray", "ones", "zeros"),
        "Custom": "npcompat.operator:Custom",
        "NDArray": f"{_NP}:ndarray",
    },
    instead={
        "save": "npx.savez, or npx.save for one array",
        "concat": "np.concatenate(arrays, axis=)",
        "stack": "np.stack",
        "random": "np.random",
        "linalg": "np.linalg",
        "image": "npx.image",
        "sparse": "dense arrays: np",
        "contrib": "npx",
        "moveaxis": "np.moveaxis",
        "imdecode": "image.imdecode",
    },
    otherwise="np or npx: functions of MXNet's older arrays are not here",
)
_DISTRIBUTIONS = (
    "exponential", "gamma", "negative_binomial", "normal", "poisson", "randint", "randn", "shuffle",
    "uniform",
)  # fmt: skip
_TRAINER = "gluon.Trainer, which updates parameters on one device or many"
_VIEWS_OF_TRAINING = (
    "a handler of gluon.contrib.estimator, or call what you need in the loop over batches"
)

MODULES: dict[str, Path] = {
    "npcompat": Path(
        names={
            "AttrScope": "npcompat.symbol:AttrScope",
            "Context": f"{_NPX}:Device",
            "MXNetError": "npcompat._mxnet_errors:MXNetError",
            "current_context": f"{_NPX}:current_device",
            "rnd": "npcompat:random",
            "waitall": f"{_NPX}:waitall",
        },
        instead={
            "Monitor": "Block.register_op_hook",
            "kv": _TRAINER,
            "mod": _ESTIMATOR,
            "module": _ESTIMATOR,
            "log": "Python's logging.getLogger",
            "mon": "Block.register_op_hook",
            "registry": "a dict of your own",
            "rnn": "gluon.rnn",
            "rtc": "npx.Custom, or a kernel of your own",
            "viz": "Block.summary",
        },
    ),
    "nd": _OLD_ARRAYS,
    "ndarray": _OLD_ARRAYS,
    "ndarray.ndarray": _OLD_ARRAYS,
    "base": Path(
        names=_of("npcompat._mxnet_errors", "MXNetError"),
        instead={
            "NotImplementedForSymbol": "TypeError, which such calls raise",
            "check_call": "npx.Custom, or a kernel of your own; there is no C API",
            "_LIB": "npx.Custom, or a kernel of your own; there is no C API",
        },
    ),
    "error": Path(
        names={
            **_of("npcompat._mxnet_errors", "MXNetError"),
            **_of("builtins", "AttributeError", "IndexError", "NotImplementedError", "TypeError"),
            **_of("builtins", "ValueError"),
            "InternalError": "npcompat._mxnet_errors:MXNetError",
        },
        instead={"register": "a class of your own; errors are Python's and NumPy's"},
    ),
    "context": Path(
        names={
            **_DEVICES,
            "Context": f"{_NPX}:Device",
            "current_context": f"{_NPX}:current_device",
        }
    ),
    "contrib": Path(
        instead={
            "autograd": "autograd",
            "ndarray": "npx",
            "onnx": "HybridBlock.export, which writes a StableHLO program",
            "quantization": "amp: there are no quantized operators",
            "symbol": "npx, whose functions build graphs",
            "tensorboard": "a handler of gluon.contrib.estimator",
            "tensorrt": "hybridize(): XLA is the only compiler",
            "text": "your own gluon.data.Dataset",
        }
    ),
    "contrib.amp": Path(whole="npcompat.amp"),
    "library": Path(instead={"load": "npx.Custom(func_type='aot'), which loads a library"}),
    "image.image": Path(homes=("npcompat.image",)),
    "image.detection": Path(homes=("npcompat.image._detection",)),
    "attribute": Path(names=_of("npcompat.symbol", "AttrScope")),
    "name": Path(names=_of("npcompat.symbol", "NameManager", "Prefix")),
    "init": Path(whole="npcompat.initializer"),
    "sym": Path(whole="npcompat.symbol"),
    "symbol": Path(
        names={"np": "npcompat:np", "npx": "npcompat:npx"},
        otherwise="np or npx, whose functions take symbols: operators of MXNet's older symbols "
        "are not here",
    ),
    "img": Path(whole="npcompat.image"),
    "dlpack": Path(
        names=_of(_NPX, "from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write")
    ),
    "numpy_extension.random": Path(
        instead={name: f"np.random.{name}" for name in _DISTRIBUTIONS},
    ),
    "metric": Path(whole=f"{_GLUON}.metric"),
    "random": Path(whole=f"{_NPX}.random"),
    "profiler": Path(
        names=_of(_NPX, "Profile", "profile"),
        otherwise="npx.profile, a context whose result prints a table and writes a trace",
    ),
    "runtime": Path(
        names=_of(_NPX, "build_info"),
        instead=dict.fromkeys(("Features", "Feature", "feature_list"), "npx.build_info()"),
    ),
    "libinfo": Path(names=_of("npcompat", "__version__")),
    "engine": Path(
        otherwise="npx.jit or hybridize(), which compile many operators into one program"
    ),
    "callback": Path(otherwise=_VIEWS_OF_TRAINING),
    "model": Path(otherwise=f"gluon.Block.save_parameters and load_parameters, or {_ESTIMATOR}"),
    "monitor": Path(instead={"Monitor": "Block.register_op_hook"}),
    "visualization": Path(
        instead={"print_summary": "Block.summary", "plot_network": "Symbol.tojson or repr"}
    ),
    "kvstore": Path(otherwise=_TRAINER),
    "io": Path(
        names=_of("npcompat.image", "DataBatch", "DataDesc"),
        instead={
            "NDArrayIter": "gluon.data.DataLoader of an ArrayDataset",
            "ImageRecordIter": "image.ImageIter(path_imgrec=)",
            "ImageDetRecordIter": "image.ImageDetIter(path_imgrec=)",
            "MNISTIter": "gluon.data.vision.MNIST",
            "CSVIter": "np.loadtxt and gluon.data.ArrayDataset",
        },
        otherwise="gluon.data.DataLoader",
    ),
    "executor": Path(names=_of("npcompat.symbol", "Executor")),
    "symbol.symbol": Path(homes=("npcompat.symbol",)),
    "optimizer.contrib": Path(names=_of("npcompat.optimizer", "GroupAdaGrad")),
    "optimizer.optimizer": Path(homes=("npcompat.optimizer",)),
    "optimizer.updater": Path(names=_of("npcompat.optimizer", "Updater", "get_updater")),
    **{
        f"optimizer.{path}": Path(names=_of("npcompat.optimizer", name))
        for path, name in _OPTIMIZERS.items()
    },
    "gluon.data.dataset": Path(
        names=_of(f"{_GLUON}.data", "ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset")
    ),
    "gluon.data.dataloader": Path(
        names={
            **_of(f"{_GLUON}.data", "DataLoader"),
            "default_batchify_fn": f"{_GLUON}.data.batchify:default_batchify_fn",
        },
        instead={"default_mp_batchify_fn": "gluon.data.batchify"},
    ),
    "gluon.data.sampler": Path(
        names=_of(
            f"{_GLUON}.data",
            "BatchSampler",
            "FilterSampler",
            "IntervalSampler",
            "RandomSampler",
            "Sampler",
            "SequentialSampler",
        )
    ),
    "gluon.contrib.data": Path(instead={"text": "your own gluon.data.Dataset"}),
    "gluon.contrib.data.vision": Path(
        homes=(_VISION, f"{_VISION}.transforms", f"{_VISION}.transforms._boxes"),
        instead={
            "ImageDataLoader": "gluon.data.DataLoader of a dataset and its transform",
            "ImageBboxDataLoader": "image.ImageDetIter",
            "create_image_augment": "image.CreateAugmenter",
            "create_bbox_augment": "image.CreateDetAugmenter",
        },
    ),
    "gluon.contrib.data.vision.transforms": Path(
        homes=(f"{_VISION}.transforms", f"{_VISION}.transforms._boxes")
    ),
    "gluon.contrib.data.vision.transforms.bbox": Path(homes=(f"{_VISION}.transforms._boxes",)),
    "gluon.contrib.nn": Path(
        homes=(_NN,),
        names={
            "Concurrent": f"{_NN}:Concatenate",
            "HybridConcurrent": f"{_NN}:HybridConcatenate",
        },
        instead={"SparseEmbedding": "gluon.nn.Embedding"},
    ),
    "gluon.contrib.cnn": Path(
        names=_of(_NN, "DeformableConvolution", "ModulatedDeformableConvolution")
    ),
    "gluon.contrib.rnn": Path(homes=(f"{_GLUON}.rnn",)),
    "gluon.contrib.estimator.batch_processor": Path(names=_of(_ESTIMATOR, "BatchProcessor")),
    "gluon.contrib.estimator.estimator": Path(names=_of(_ESTIMATOR, "Estimator")),
    "gluon.contrib.estimator.event_handler": Path(
        names=_of(
            _ESTIMATOR,
            "BatchBegin",
            "BatchEnd",
            "CheckpointHandler",
            "EarlyStoppingHandler",
            "EpochBegin",
            "EpochEnd",
            "GradientUpdateHandler",
            "LoggingHandler",
            "MetricHandler",
            "StoppingHandler",
            "TrainBegin",
            "TrainEnd",
            "ValidationHandler",
        )
    ),
    "gluon.nn.activations": Path(homes=(f"{_NN}._activations",)),
    "gluon.nn.basic_layers": Path(
        homes=(f"{_NN}._basic", f"{_NN}._containers", f"{_NN}._normalization")
    ),
    "gluon.nn.conv_layers": Path(
        homes=(
            f"{_NN}._convolution",
            f"{_NN}._deformable",
            f"{_NN}._pixels",
            f"{_NN}._transposed_convolution",
        )
    ),
    "gluon.rnn.rnn_cell": Path(homes=(f"{_GLUON}.rnn",)),
    "gluon.rnn.rnn_layer": Path(names=_of(f"{_GLUON}.rnn", "GRU", "LSTM", "RNN")),
    "gluon.rnn.conv_rnn_cell": Path(homes=(f"{_GLUON}.rnn._convolutional",)),
    **{
        f"gluon.model_zoo.vision.{name}": Path(homes=(f"{_GLUON}.model_zoo.vision._{name}",))
        for name in ("densenet", "inception", "mobilenet", "resnet", "squeezenet", "vgg")
    },
}

__all__ = ["MODULES", "Path"]
