import { globMatcher } from '@belay/protocol';
import { isCiFile } from '../../git/is-ci-file.js';

const usual = [
  '**/{test,tests,__tests__,spec,testdata,fixtures}/**',
  '**/*{.test.,.spec.,_test.,_spec.}*',
  '**/test_*.py',
  '**/{Test*,*Test,*Tests,*IT}.{java,kt}',
];

/** Which files are tests by their path, by the usual places and names or those of `globs`. */
export function testFileMatcher(globs: readonly string[] = usual): (path: string) => boolean {
  const matchers = globs.flatMap(alternatives).map((glob) => globMatcher(glob, { anchored: true }));
  return (path) => matchers.some((matches) => matches(path));
}

/** What `{a,b}` in a glob stands for. */
function alternatives(glob: string): string[] {
  const [whole, before = '', inside = '', after = ''] = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(glob) ?? [];
  if (whole === undefined) return [glob];
  return inside.split(',').flatMap((one) => alternatives(before + one + after));
}

/**
 * Whether a file decides how tests run: settings of runners, compilers and packages, locks of dependencies, build files,
 * CI. With another one, the same test means something else.
 */
export const decidesHowTestsRun = (path: string): boolean =>
  isCiFile(path) || anywhere.test(path) || names.test(path.slice(path.lastIndexOf('/') + 1));

const anywhere = /(?:^|\/)(?:node_modules|\.cargo|\.mvn|gradle|\.config|\.venv|site-packages)\//i;
const names = new RegExp(
  `^(?:${[
    // JavaScript
    String.raw`package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-.*\.yaml|bun\.lockb?|(?:deno|jest|nx|turbo|project|lerna)\.jsonc?|[tj]sconfig.*\.json`,
    String.raw`.*\.(?:config|conf|setup|preset)\.\w+|jest[.-].*|vitest[.-].*|karma[.-].*|\.\w+rc(?:\.\w+)?|\.(?:npmrc|yarnrc.*|env.*|pnp.*|nvmrc|node-version|tool-versions)`,
    // Python
    String.raw`conftest\.py|(?:site|user)customize\.py|.*\.pth|pytest\.ini|tox\.ini|setup\.(?:cfg|py)|noxfile\.py|pyproject\.toml|(?:poetry|uv|pdm)\.lock|pipfile(?:\.lock)?|.*requirements.*\.(?:txt|in)|environment\.ya?ml|\.python-version`,
    // Others
    String.raw`(?:gnu)?makefile.*|.*\.mk|justfile|rakefile|taskfile\.ya?ml|cmakelists\.txt|.*\.cmake|meson\.build|build(?:\.bazel)?|workspace(?:\.bazel)?|.*\.bzl|\.bazelrc`,
    String.raw`go\.(?:mod|sum|work.*)|cargo\.(?:toml|lock)|build\.rs|rust-toolchain.*|pom\.xml|gradlew?.*|.*\.gradle(?:\.kts)?|.*\.(?:cs|fs|vb)proj|.*\.(?:sln|props|targets)|global\.json`,
    String.raw`gemfile.*|.*\.gemspec|\.rspec|composer\.(?:json|lock)|phpunit.*|mix\.(?:exs|lock)|dockerfile.*|\.gitattributes|\.gitmodules`,
  ].join('|')})$`,
  'i',
);
