/** How a repository's tests are run at one version, for instances without a script of their own. */
export interface RepositorySpec {
  environment: PythonSetup | NodeSetup;
  /** Shell lines before the tests, such as variables. */
  before?: string[];
  /**
   * A command to which the test files are appended, or a function that makes commands from them.
   */
  test: string | ((files: string[], version: string) => string[]);
  logParser: string;
  evalType?: 'pass_and_fail' | 'fail_only';
}

interface Setup {
  /** Requirements that are not built here; SWE-Bench's own image has them. */
  needs?: string;
}

export interface PythonSetup extends Setup {
  python: string;
  /** Arguments of `pip install`. */
  packages?: string[];
  /** Requirements files, of which the first that exists is used. */
  requirements?: string[];
  /** Shell lines before the repository's own installation. */
  prepare?: string[];
  install?: string;
}

export interface NodeSetup extends Setup {
  node: string;
}
