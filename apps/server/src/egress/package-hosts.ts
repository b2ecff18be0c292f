import { hostSets } from '@belay/protocol';

/** The package registries of common ecosystems, which the profile `packages` allows. */
export const packageHosts: readonly string[] = [
  ...Object.values(hostSets).flatMap(({ registries }) => registries),
  // Conda
  'conda.anaconda.org',
  'repo.anaconda.com',
  // Alpine, Fedora
  'dl-cdn.alpinelinux.org',
  'mirrors.fedoraproject.org',
  // Ruby, PHP, Java, .NET, Dart, Elixir
  'rubygems.org',
  'index.rubygems.org',
  'packagist.org',
  'repo.packagist.org',
  'repo.maven.apache.org',
  'repo1.maven.org',
  'plugins.gradle.org',
  'services.gradle.org',
  'api.nuget.org',
  'pub.dev',
  'repo.hex.pm',
];
