/** Where the common ecosystems keep their packages: reading them is what the profile `packages` is for. */
export const packageHosts: readonly string[] = [
  // JavaScript
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'npm.jsr.io',
  'jsr.io',
  'nodejs.org',
  // Python
  'pypi.org',
  'files.pythonhosted.org',
  'conda.anaconda.org',
  'repo.anaconda.com',
  // Debian, Ubuntu, Alpine, Fedora
  'deb.debian.org',
  'security.debian.org',
  'archive.ubuntu.com',
  'security.ubuntu.com',
  'ports.ubuntu.com',
  'dl-cdn.alpinelinux.org',
  'mirrors.fedoraproject.org',
  // Rust
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'static.rust-lang.org',
  // Go
  'proxy.golang.org',
  'sum.golang.org',
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
