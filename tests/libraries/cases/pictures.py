"""Pictures and signals."""

import io

import numpy as onp

from .base import PICTURE, X, Y, case, text


@case("OpenCV", "cv2", "`cv2.GaussianBlur(a, (3, 3), 0)`")
def _(of):
    import cv2

    return cv2.GaussianBlur(of(PICTURE), (3, 3), 0)


@case("OpenCV", "cv2", "`cv2.rectangle(a, ...)`, which writes `a`")
def _(of):
    import cv2

    a = of(PICTURE)
    cv2.rectangle(a, (1, 1), (5, 5), (255, 0, 0))
    return a


@case("OpenCV", "cv2", "`kalman.transitionMatrix = a`, then `kalman.predict()`")
def _(of):
    import cv2

    kalman = cv2.KalmanFilter(2, 1)
    kalman.transitionMatrix = of(onp.array([[1.0, 2.0], [0.0, 1.0]], onp.float32))
    kalman.statePost = of(onp.ones((2, 1), onp.float32))
    return kalman.predict()


@case("Pillow", "PIL", "`PIL.Image.fromarray(a).resize((6, 6))`")
def _(of):
    import PIL.Image

    return PIL.Image.fromarray(of(PICTURE)).resize((6, 6))


@case("scikit-image", "skimage", "`skimage.filters.sobel(a)`")
def _(of):
    import skimage.filters

    return skimage.filters.sobel(of(X))


@case("imageio", "imageio", "`imageio.v3.imwrite(file, a)`, and read")
def _(of):
    import imageio.v3

    return imageio.v3.imread(imageio.v3.imwrite("<bytes>", of(PICTURE), extension=".png"))


@case("tifffile", "tifffile", "`tifffile.imwrite(file, a)`, and read")
def _(of):
    import tifffile

    file = io.BytesIO()
    tifffile.imwrite(file, of(PICTURE), photometric="rgb")
    return tifffile.imread(io.BytesIO(file.getvalue()))


@case("PyWavelets", "pywt", '`pywt.dwt(a, "haar")`')
def _(of):
    import pywt

    return pywt.dwt(of(Y), "haar")[0]


@case("SoundFile", "soundfile", "`soundfile.write(file, a, 8000)`, and read")
def _(of):
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, of(Y / 100), 8000, format="WAV", subtype="DOUBLE")
    file.seek(0)
    return soundfile.read(file)[0]


@case("Matplotlib", "matplotlib", "`axes.plot(x, y)`, `axes.imshow(a)`", lambda line: line)
def _(of):
    import matplotlib.figure

    axes = matplotlib.figure.Figure().subplots()
    axes.imshow(of(X))
    return axes.plot(of(Y), of(Y))[0].get_ydata()


@case("seaborn", "seaborn", "`seaborn.histplot(a)`")
def _(of):
    import matplotlib.figure
    import seaborn

    axes = matplotlib.figure.Figure().subplots()
    seaborn.histplot(of(Y), bins=3, ax=axes)
    return [bar.get_height() for bar in axes.patches]


@case("Plotly", "plotly", "`plotly.graph_objects.Scatter(x=a, y=a).to_json()`", text)
def _(of):
    import plotly.graph_objects

    return plotly.graph_objects.Scatter(x=of(Y), y=of(Y)).to_json()
