#!/usr/bin/env python3
"""Writes a Maven repository with the binary, the agent and the plugins: maven.py --binaries DIR --plugin plugins/maven --work DIR REPOSITORY

1. The binary and the agent become artifacts of `instrument-native`: extension exe and so, the platform as classifier.
2. The plugins are built with the SHA-256 of both, so that they take no others; each after those that it needs.
3. Every file gets its checksums. The same input gives the same bytes: metadata are as old as SOURCE_DATE_EPOCH.

VERSION, PLATFORM and SOURCE_DATE_EPOCH come from the environment.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

GROUP = "io.github.instrument"
EXTENSIONS = {"instrument": "exe", "libinstrument_agent.so": "so"}
POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>pom</packaging>
  <name>{artifact}</name>
  <description>The binary `instrument` and its agent, which the plugins start</description>
  <licenses>
    <license><name>MIT OR Apache-2.0</name></license>
  </licenses>
</project>
"""
ALL = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId><artifactId>all</artifactId><version>{version}</version><packaging>pom</packaging>
  <modules>{modules}</modules>
</project>
"""
MARKER = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>pom</packaging>
  <name>{artifact}</name>
  <description>Tells Gradle where its plugin {group} is</description>
  <licenses>
    <license><name>MIT OR Apache-2.0</name></license>
  </licenses>
  <dependencies>
    <dependency><groupId>{group}</groupId><artifactId>{plugin}</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"""
METADATA = """<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <versioning>
    <release>{version}</release>
    <versions>
      <version>{version}</version>
    </versions>
    <lastUpdated>{time}</lastUpdated>
  </versioning>
</metadata>
"""


class Repository:
    def __init__(self, folder, version, epoch):
        self.folder, self.version = folder, version
        self.time = time.strftime("%Y%m%d%H%M%S", time.gmtime(epoch))

    def put(self, artifact, suffix, content):
        """A file of an artifact: SUFFIX is what follows its name and version."""
        path = self.folder / GROUP.replace(".", "/") / artifact / self.version / f"{artifact}-{self.version}{suffix}"
        self.write(path, content)

    def metadata(self, artifact):
        text = METADATA.format(group=GROUP, artifact=artifact, version=self.version, time=self.time)
        self.write(self.folder / GROUP.replace(".", "/") / artifact / "maven-metadata.xml", text.encode())

    def write(self, path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        for name in ("md5", "sha1", "sha256"):
            path.with_name(f"{path.name}.{name}").write_text(hashlib.new(name, content).hexdigest())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--plugin", type=Path, required=True, action="append", help="repeatable")
    parser.add_argument("--work", type=Path, required=True, help="the plugins are built there")
    parser.add_argument("repository", type=Path)
    given = parser.parse_args()
    version, platform, epoch = os.environ["VERSION"], os.environ["PLATFORM"], int(os.environ["SOURCE_DATE_EPOCH"])
    repository = Repository(given.repository, version, epoch)

    digests = []
    for name, extension in EXTENSIONS.items():
        content = (given.binaries / name).read_bytes()
        repository.put("instrument-native", f"-{platform}.{extension}", content)
        digests.append(f"{platform}.{extension}={hashlib.sha256(content).hexdigest()}\n")
    repository.put("instrument-native", ".pom", POM.format(group=GROUP, artifact="instrument-native", version=version).encode())
    repository.metadata("instrument-native")

    shutil.rmtree(given.work, ignore_errors=True)
    (given.work / "digests").mkdir(parents=True)
    (given.work / "digests" / "native.properties").write_text("".join(digests))
    for plugin in given.plugin:
        shutil.copytree(plugin, given.work / plugin.name, ignore=shutil.ignore_patterns("target"))
    # One build, in which they find each other.
    modules = "".join(f"<module>{plugin.name}</module>" for plugin in given.plugin)
    (given.work / "pom.xml").write_text(ALL.format(group=GROUP, version=version, modules=modules))
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    offline = ["-o"] if os.environ.get("MAVEN_OFFLINE") else []
    subprocess.run(
        ["mvn", "-q", "-B", "-Dstyle.color=never", *offline, "-f", given.work / "pom.xml", "package", f"-Dproject.build.outputTimestamp={stamp}",
         f"-Dnative.digests={(given.work / 'digests').resolve()}"], check=True)
    for plugin in given.plugin:
        pom = (given.work / plugin.name / "pom.xml").read_bytes()
        artifact = re.search(rb"<artifactId>(.*?)</artifactId>", pom).group(1).decode()
        repository.put(artifact, ".jar", (given.work / plugin.name / "target" / f"{artifact}-{version}.jar").read_bytes())
        repository.put(artifact, ".pom", pom)
        repository.metadata(artifact)
        if plugin.name == "gradle":
            # By this, `plugins { id 'io.github.instrument' version .. }` finds it.
            marker = f"{GROUP}.gradle.plugin"
            repository.put(marker, ".pom", MARKER.format(group=GROUP, artifact=marker, version=version, plugin=artifact).encode())
            repository.metadata(marker)


if __name__ == "__main__":
    main()
