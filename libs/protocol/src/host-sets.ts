/** Hosts from which projects fetch sources by git or as archives, and releases as files. They also accept pushes. */
const github = [
  'github.com',
  'codeload.github.com',
  'objects.githubusercontent.com',
  'release-assets.githubusercontent.com',
  'raw.githubusercontent.com',
];

interface HostSet {
  title: string;
  /** The hosts that the egress profile `packages` allows by itself. */
  registries: readonly string[];
  /** Other hosts that packages fetch from. */
  sources: readonly string[];
}

/** Hosts of package managers that a user allows together, such as `@npm`, in a session’s hosts or as a rule. */
export const hostSets = {
  npm: {
    title: 'npm',
    registries: [
      'registry.npmjs.org',
      'registry.yarnpkg.com',
      'npm.jsr.io',
      'jsr.io',
      'nodejs.org',
    ],
    sources: github,
  },
  pypi: { title: 'PyPI', registries: ['pypi.org', 'files.pythonhosted.org'], sources: github },
  crates: {
    title: 'crates.io',
    registries: ['crates.io', 'index.crates.io', 'static.crates.io', 'static.rust-lang.org'],
    sources: github,
  },
  go: { title: 'Go', registries: ['proxy.golang.org', 'sum.golang.org'], sources: github },
  apt: {
    title: 'apt',
    registries: [
      'deb.debian.org',
      'security.debian.org',
      'archive.ubuntu.com',
      'security.ubuntu.com',
      'ports.ubuntu.com',
    ],
    sources: [],
  },
} as const satisfies Record<string, HostSet>;

export type HostSetName = keyof typeof hostSets;

export const hostSetNames = Object.keys(hostSets) as HostSetName[];

/** The description of the egress profile `packages` for models and users. */
export const packageRegistries =
  'the package registries (npm, PyPI, crates.io, Go, Debian and others)';

/** The name of a set in an entry such as `@npm`; undefined for any other entry, and for a set that does not exist. */
export const hostSetIn = (entry: string): HostSetName | undefined =>
  hostSetNames.find((name) => entry.trim().toLowerCase() === `@${name}`);

export const hostsOfSet = (name: HostSetName): readonly string[] => [
  ...hostSets[name].registries,
  ...hostSets[name].sources,
];

/** Whether a set includes this `host:port`; its hosts are allowed on ports 80 and 443. */
export const isInHostSet = (name: HostSetName, subject: string): boolean =>
  hostsOfSet(name).some((host) => subject === `${host}:443` || subject === `${host}:80`);

/** The sets that include this `host:port`. */
export const hostSetsWith = (subject: string): HostSetName[] =>
  hostSetNames.filter((name) => isInHostSet(name, subject));
