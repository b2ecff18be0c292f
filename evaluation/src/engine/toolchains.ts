import { assetText } from '../asset-text.js';
import { fileEntry, type Entry } from '../entries.js';
import type { ToolchainName } from '../model.js';

/**
 * Replacements for uv, which test scripts of tasks call after a download that is impossible without
 * a network. They start pytest with -P, so that a module in the working folder cannot shadow one of
 * pytest's.
 */
const programs = ['uv', 'uvx', 'belay-pytest'];

const apt = (...packages: string[]) =>
  `RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')} >/dev/null && apt-get clean && rm -rf /var/lib/apt/lists/*`;

const base = [
  'USER root',
  'RUN userdel -r agent 2>/dev/null || true',
  apt('python3-pytest', 'tmux'),
  'COPY uv uvx belay-pytest /usr/local/bin/',
  'RUN chmod 755 /usr/local/bin/uv /usr/local/bin/uvx /usr/local/bin/belay-pytest; mkdir -p /root/.local/bin /app; touch /etc/pip.conf; : > /root/.local/bin/env; ln -sf /usr/bin/python3 /usr/local/bin/python',
  'ENV HOME=/root PYTHONDONTWRITEBYTECODE=1',
  'WORKDIR /app',
];

const jestPackages =
  '@babel/core@7 @exercism/babel-preset-javascript@0.2 babel-jest@29 core-js@~3.37.1 jest@29';

const more: Record<ToolchainName, string[]> = {
  base: [],
  numpy: [apt('python3-numpy')],
  javascript: [
    `RUN mkdir -p /toolchain && cd /toolchain && echo '{}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts ${jestPackages} && chmod -R a+rX /toolchain`,
  ],
  java: [
    'RUN mkdir -p /usr/share/man/man1',
    apt('default-jdk-headless', 'junit5', 'libassertj-core-java'),
  ],
  // Two exercises use Boost's dates, and one may use threads of TBB.
  // Compiling the main program of Catch takes longer than compiling an exercise, so it is done once.
  cpp: [
    apt('g++', 'catch2', 'libboost-date-time-dev', 'libtbb-dev'),
    `RUN mkdir -p /toolchain && printf '#define CATCH_CONFIG_MAIN\\n#include <catch2/catch.hpp>\\n' | g++ -std=c++17 -pthread -x c++ -c - -o /toolchain/catch-main.o && chmod -R a+rX /toolchain`,
  ],
  go: [apt('golang-go')],
  // Debian’s own rustc is from 2022; this one is kept current for browsers. Only the packaged
  // crates are available.
  rust: [
    apt(
      'rustc-web',
      'cargo-web',
      ...['anyhow', 'rand', 'thiserror', 'time'].map((name) => `librust-${name}-dev`),
    ),
    `RUN mkdir -p /.cargo && printf '[source.crates-io]\\nreplace-with = "debian"\\n[source.debian]\\ndirectory = "/usr/share/cargo/registry"\\n' > /.cargo/config.toml`,
  ],
};

/**
 * The build context of an image for the tasks of a suite; `BASE` is the platform's sandbox image.
 */
export function toolchain(name: ToolchainName): Entry[] {
  const lines = ['ARG BASE', 'FROM ${BASE}', ...(name === 'base' ? base : more[name])];
  return [
    fileEntry('Dockerfile', `${lines.join('\n')}\n`),
    ...(name === 'base'
      ? programs.map((program) => fileEntry(program, assetText(`${program}.sh`), 0o755))
      : []),
  ];
}
