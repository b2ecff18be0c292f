/** How a repository's tests are run at one version, for instances that bring no script of their own. */
export interface RepositorySpec {
  environment: PythonSetup | NodeSetup;
  /** Shell lines before the tests, such as variables. */
  before?: string[];
  /** A command that the test files are added to, or what makes commands of them. */
  test: string | ((files: string[], version: string) => string[]);
  logParser: string;
  evalType?: 'pass_and_fail' | 'fail_only';
}

interface Setup {
  /** What it needs that is not built here; an image of SWE-Bench's own has it. */
  needs?: string;
}

export interface PythonSetup extends Setup {
  python: string;
  /** Words for pip. */
  packages?: string[];
  /** Files with more of them: the first that the repository has. */
  requirements?: string[];
  /** Shell lines before the repository's own installation. */
  prepare?: string[];
  install?: string;
}

export interface NodeSetup extends Setup {
  node: string;
}
