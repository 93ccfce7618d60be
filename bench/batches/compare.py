#!/usr/bin/env python3
"""Augmented images per second: our batches against scipy.ndimage, which Keras's ImageDataGenerator calls.

    bench/batches/compare.py BUILD_FOLDER/bench/batches/batches_bench [--images 3000] [--rounds 5]

Both take turns; the fastest round of each counts. Ours reads bytes, subtracts the mean, draws and warps a whole epoch;
SciPy is given normalised images and ready matrices from the same ranges and warps a part of an epoch, channel by
channel. Ratios are of one thread, by processor time, which other work on the machine disturbs least.
"""
import argparse
import json
import os
import pathlib
import subprocess
import time

SETTINGS = {
    "cifar": dict(title="32x32x3, shift 0.1, flip", shape=(32, 32, 3), shift=0.1, zoom=0, rotation=0, flip=True),
    "mnist": dict(title="28x28x1, shift 0.1, zoom 0.1, rotation 15", shape=(28, 28, 1), shift=0.1, zoom=0.1,
                  rotation=15, flip=False),
}


def draw_warp(np, generator, setting):
    height, width, _ = setting["shape"]
    angle = np.deg2rad(generator.uniform(-1, 1) * setting["rotation"])
    cosine, sine = np.cos(angle), np.sin(angle)
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    matrix = rotation * (1 + generator.uniform(-1, 1, 2) * setting["zoom"])
    centre = np.array([height, width]) / 2 + 0.5
    shift = generator.uniform(-1, 1, 2) * setting["shift"] * [height, width]
    return matrix, rotation @ shift + centre - matrix @ centre, setting["flip"] and generator.random() < 0.5


class Peer:
    def __init__(self, np, setting, images):
        generator = np.random.default_rng(1)
        self.np = np
        self.images = generator.random((images, *setting["shape"]), dtype=np.float32)
        self.warps = [draw_warp(np, generator, setting) for _ in range(images)]

    def run(self):
        from scipy.ndimage import affine_transform

        start = time.process_time()
        for image, (matrix, offset, flip) in zip(self.images, self.warps):
            channels = [affine_transform(image[..., i], matrix, offset, order=1, mode="nearest")
                        for i in range(image.shape[2])]
            changed = self.np.stack(channels, axis=2)
            if flip:
                changed = changed[:, ::-1]
        return len(self.images) / (time.process_time() - start)


def run_ours(program, name, threads):
    done = subprocess.run([program, name, str(threads)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built batches_bench")
    parser.add_argument("--images", type=int, default=3000, help="images SciPy warps in a round (default 3000)")
    parser.add_argument("--rounds", type=int, default=5, help="times each runs (default 5)")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy as np  # after the variable: OpenBLAS reads it once

    program = pathlib.Path(options.program).resolve()
    for name, setting in SETTINGS.items():
        peer = Peer(np, setting, options.images)
        one, two, scipy = [], [], []
        for _ in range(options.rounds):
            one.append(run_ours(program, name, 1))
            two.append(run_ours(program, name, 2))
            scipy.append(peer.run())
        images = one[0]["images"]
        seconds = min(run["processor"] for run in one)
        wall_of_two = min(run["wall"] for run in two)
        print(f"{name}: {setting['title']}; an epoch of {images} images")
        print(f"  ours, one thread   {images / seconds:9.0f} images/s   {seconds:6.3f} s an epoch")
        print(f"  ours, two threads  {images / wall_of_two:9.0f} images/s   {wall_of_two:6.3f} s an epoch (wall)")
        print(f"  scipy.ndimage      {max(scipy):9.0f} images/s   {images / max(scipy):6.3f} s an epoch; "
              f"ours is {images / seconds / max(scipy):.1f}x")


main()
