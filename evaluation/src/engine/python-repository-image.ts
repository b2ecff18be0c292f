import { parse } from 'smol-toml';
import { z } from 'zod';
import { shellQuoted } from '@belay/protocol';
import { fileEntry, type Entry } from '../entries.js';
import type { PythonSetup } from '../repository-spec.js';

/**
 * The build context of an image with a Python repository at /testbed, installed as SWE-Bench does,
 * in a virtual environment. `BASE` provides the interpreter, and `SETTINGS` pip's settings and
 * certificates. Changes that the installation makes to the repository are committed, so that no
 * patch contains them.
 */
export function pythonRepositoryImage(setup: PythonSetup, buildRequires: string[]): Entry[] {
  const lines = [
    'ARG BASE',
    'ARG SETTINGS',
    'FROM ${SETTINGS} AS settings',
    'FROM ${BASE}',
    'USER root',
    'COPY --from=settings /etc/pip.conf /etc/pip.conf',
    'COPY --from=settings /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt',
    toolsFor(setup),
    'RUN python3 -m venv /opt/testbed',
    'ENV VIRTUAL_ENV=/opt/testbed PATH=/opt/testbed/bin:$PATH PYTHONDONTWRITEBYTECODE=1',
    'WORKDIR /testbed',
    'COPY repository /testbed/.git',
    'RUN git config core.bare false && git config core.autocrlf false && git reset -q --hard base',
    'COPY install.sh /opt/install.sh',
    'RUN bash /opt/install.sh',
  ];
  return [
    fileEntry('Dockerfile', `${lines.join('\n')}\n`),
    fileEntry('install.sh', installation(setup, buildRequires)),
  ];
}

/**
 * An engine without a network cannot install a compiler, but a repository in plain Python does not
 * need one.
 */
function toolsFor({ packages, requirements, prepare }: PythonSetup): string {
  const compiled = packages ?? requirements ?? prepare;
  const programs = ['git', ...(compiled ? ['gcc', 'make', 'locale-gen', 'wget'] : [])];
  const debian = [
    'git',
    ...(compiled ? ['build-essential', 'locales', 'python3-dev', 'wget'] : []),
  ];
  const present = programs.map((program) => `command -v ${program}`).join(' && ');
  return `RUN (${present}) >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${debian.join(' ')} >/dev/null && apt-get clean && rm -rf /var/lib/apt/lists/*) || echo "${debian.join(', ')}: not installed"`;
}

function installation(setup: PythonSetup, buildRequires: string[]): string {
  const { packages = [], requirements = [], prepare = [], install } = setup;
  const pip = 'python -m pip install';
  return [
    'set -eux',
    'cd /testbed',
    // The verification installs again without a network, so build tools stay in the image.
    `${pip} ${['setuptools', 'wheel', ...buildRequires].map(shellQuoted).join(' ')} || true`,
    ...(requirements.length > 0 ? [requirementsFrom(requirements)] : []),
    ...(packages.length > 0 ? [`${pip} ${packages.map(shellQuoted).join(' ')}`] : []),
    ...prepare,
    ...(install ? [install] : []),
    'git -c user.name=agent -c user.email=agent@localhost commit -q --allow-empty -am base',
    '',
  ].join('\n');
}

/**
 * Omits the repository itself, as SWE-Bench does; a package that was withdrawn from its index gets
 * its new name.
 */
const requirementsFrom = (files: string[]): string =>
  [
    `for given in ${files.map(shellQuoted).join(' ')}; do [ -f "$given" ] && break; done`,
    'kept=$(dirname "$given")/belay-requirements.txt',
    String.raw`grep -vE '^[[:space:]]*(-e \.|#|\.\[test)' "$given" | sed -E 's/^types-pkg_resources([<>=!~].*)?$/types-setuptools/' > "$kept"`,
    'python -m pip install -r "$kept"',
    'rm "$kept"',
  ].join('\n');

const project = z.object({ 'build-system': z.object({ requires: z.array(z.string()).max(64) }) });

/** The build requirements in a pyproject.toml; empty if they cannot be read. */
export function buildRequirements(pyproject: string): string[] {
  try {
    return project
      .parse(parse(pyproject))
      ['build-system'].requires.filter((word) => !word.startsWith('-') && !/[\n\r\0]/.test(word));
  } catch {
    return [];
  }
}
