"""Asks a dataset with the package of `crates/fleet/spark`. Standard input is a JSON object:

* `master`, or `workers`: so many workers and a master are started on the loopback address; with `kill` one of the workers is killed while
  the merge runs;
* `partitions`: into how many parts sums are cut, once for each;
* `ask`: names of questions with their arguments;
* `merge`: the folder that merges are written below.

Standard output has the answers for each number of partitions, of each merge the files with their SHA-256, and how many seconds each took."""
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pyspark

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "crates" / "fleet" / "spark"))
from instrument_fleet import Dataset, merge, questions, session  # noqa: E402

HOME = pathlib.Path(pyspark.__file__).parent


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def state(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as answer:
        return json.load(answer)


def children(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task")
    with contextlib.suppress(FileNotFoundError):
        return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]
    return []


class Cluster:
    """A master and workers."""

    def __init__(self, workers, folder):
        self.port, self.page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        place = "org.apache.spark.deploy"
        self.running = [
            self.start(folder, f"{place}.master.Master", "--port", str(self.port), "--webui-port", str(self.page))
        ]
        # Workers look for their master again and again.
        for number in range(workers):
            words = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", f"{folder}/work-{number}"]
            self.running.append(self.start(folder, f"{place}.worker.Worker", self.master, *words))
        deadline = time.monotonic() + 60
        while self.alive() < workers:
            assert time.monotonic() < deadline, "the workers did not come"
            time.sleep(0.2)

    def start(self, folder, name, *words):
        environment = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
        command = [str(HOME / "bin" / "spark-class"), name, "--host", "127.0.0.1", *words]
        log = open(f"{folder}/{name.rsplit('.', 1)[1]}.log", "ab")
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def alive(self):
        with contextlib.suppress(OSError):
            return state(self.page)["aliveworkers"]
        return 0

    def kill_one(self):
        """Kills the last worker with its executors, without a word to anybody."""
        worker = self.running[-1].pid
        for pid in [*children(worker), worker]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self):
        for process in reversed(self.running):
            for pid in children(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            process.terminate()
        for process in self.running:
            process.wait()


def kill_amid(cluster, spark, is_killed):
    """Waits until tasks of the merge have ended and others have not, and kills a worker."""
    tracker = spark.sparkContext.statusTracker()
    while not is_killed.is_set():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and 0 < stage.numCompletedTasks < stage.numTasks for stage in stages):
            cluster.kill_one()
            is_killed.set()
        time.sleep(0.005)


def hashes(folder):
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main():
    dataset, wanted = sys.argv[1], json.load(sys.stdin)
    folder = wanted["merge"]
    cluster = Cluster(wanted["workers"], folder) if "workers" in wanted else None
    answers, merges, seconds = {}, {}, {}
    try:
        spark = session(cluster.master if cluster else wanted["master"], wanted["partitions"][0])
        spark.sparkContext.setLogLevel("OFF")
        for partitions in map(str, wanted["partitions"]):
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            data = Dataset(spark, dataset)
            answers[partitions], seconds[partitions] = {}, {}
            for name, arguments in wanted.get("ask", {}).items():
                start = time.monotonic()
                rows = getattr(questions, name)(data, **arguments)
                rows = questions.tree_rows(rows) if name == "xtree" else (row.asDict() for row in rows.collect())
                answers[partitions][name] = list(rows)
                seconds[partitions][name] = time.monotonic() - start
            is_killed = threading.Event()
            if wanted.get("kill"):
                threading.Thread(target=kill_amid, args=(cluster, spark, is_killed), daemon=True).start()
            out = f"{folder}/{partitions}"
            start = time.monotonic()
            merge(data, out, {"service": "fleet"})
            merges[partitions] = {"files": hashes(out), "is_killed": is_killed.is_set()}
            seconds[partitions]["merge"] = time.monotonic() - start
            is_killed.set()
        spark.stop()
        if wanted.get("kill"):
            # Whoever was killed did not come back.
            assert cluster.alive() < wanted["workers"]
    finally:
        if cluster:
            cluster.stop()
    json.dump({"answers": answers, "merges": merges, "seconds": seconds}, sys.stdout)


main()
