import type { ActionManifest } from '@belay/protocol';

/** The commands that make an action’s image, as a POSIX shell script with its arguments; null when there are none. */
export function buildCommand(
  { debian = [], npm = [], pip = [] }: ActionManifest['packages'],
  { hasSetup, variables }: { hasSetup: boolean; variables: Readonly<Record<string, string>> },
): [string, ...string[]] | null {
  const steps = [
    ...(debian.length > 0
      ? [
          'apt-get update',
          `apt-get install --yes --no-install-recommends -- ${quoted(debian)}`,
          'rm -rf /var/lib/apt/lists/*',
        ]
      : []),
    ...(npm.length > 0 ? [`npm install --global --no-audit --no-fund -- ${quoted(npm)}`] : []),
    ...(pip.length > 0
      ? [`PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir -- ${quoted(pip)}`]
      : []),
    ...(hasSetup ? ['cd /action', './setup'] : []),
  ];
  if (steps.length === 0) return null;
  const set = { HOME: '/root', DEBIAN_FRONTEND: 'noninteractive', ...variables };
  const exported = Object.entries(set).map(([name, value]) => `export ${name}=${quoted([value])}`);
  const shown = steps.flatMap((step) => [`echo ${quoted([`> ${step}`])}`, step]);
  return ['/bin/sh', '-ec', [...exported, ...shown].join('\n')];
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
