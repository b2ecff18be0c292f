/** Commands that run the tests of the files after them. */
const runners = [
  'npm test',
  'npm run test',
  'yarn test',
  'pnpm test',
  'npx jest',
  'npx vitest run',
  'npx mocha',
  'npx ava',
  'npx tap',
  'node --test',
  'pytest',
  'python -m pytest',
  'python3 -m pytest',
  'python -m unittest',
  'python3 -m unittest',
  'go test',
  'cargo test',
  'bundle exec rspec',
  'rspec',
  'phpunit',
  'vendor/bin/phpunit',
  'dotnet test',
  'mvn test',
  'gradle test',
  './gradlew test',
];
const placeholder = '{files}';

/**
 * Whether a command line runs tests, and not something that merely looks at the change: it is one of `commands` (whose
 * `{files}` stand for names of files) or a runner of tests, and nothing follows but the named files. Names that a shell
 * would read otherwise are not accepted.
 */
export function isTestCommand(
  command: string,
  { commands, files }: { commands: readonly string[]; files: readonly string[] },
): boolean {
  const plain = files.filter((file) => /^(?!-)[\w./@+,-]+$/.test(file));
  const names = new Set(plain.flatMap((file) => [file, `./${file}`]));
  const given = wordsOf(command);
  const fits = (template: string, needsFile: boolean): boolean => {
    const [before = '', after = ''] = template.split(placeholder);
    const [start, end] = [wordsOf(before), wordsOf(after)];
    const middle = given.slice(start.length, given.length - end.length);
    return (
      given.length >= start.length + end.length &&
      isSame(given.slice(0, start.length), start) &&
      isSame(given.slice(given.length - end.length), end) &&
      middle.every((word) => word === '--' || names.has(word)) &&
      (!needsFile || middle.some((word) => names.has(word)))
    );
  };
  return (
    commands.some((template) => fits(template, false)) ||
    runners.some((template) => fits(template, true))
  );
}

const wordsOf = (line: string): string[] => line.split(/[ \t]+/).filter(Boolean);

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((word, at) => word === others[at]);
