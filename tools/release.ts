import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from './prepare/machine.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { releaseNotes, unreleasedNotes, versionsIn } from './release/changelog.ts';
import { assertNewVersion, filesWithVersion } from './release/version.ts';

// npm run release -- VERSION: turns a tested tree into a commit and a tag, or changes nothing. It
// works on the repository of the current folder, with the npm scripts there.
const help = `Usage: npm run release -- VERSION [--dry-run]

  On a clean branch main: runs npm test (which includes npm run check) and npm run test:long, moves the section
  “Unreleased” of CHANGELOG.md to VERSION, sets the version of all packages, packs dist/belay-VERSION.tgz and tests
  that package (npm run test:package), then commits and tags vVERSION. Nothing is pushed.
  If a step fails, the tree is left unchanged.

  --dry-run   checks branch, version and changelog and prints the notes; runs and changes nothing`;

const folder = process.cwd();

await runCommand(async () => {
  const { positionals, values } = options();
  if (values.help) return console.log(help);
  const [version, ...more] = positionals;
  if (!version || more.length > 0) throw new Instruction(`Name one version.\n\n${help}`);
  const notes = await step('branch, version, changelog', () => checkInput(version));
  if (values['dry-run'])
    return console.log(`${notes}\n\nA release of ${version} would have these notes.`);
  await step('tests', () => npm('test'));
  await step('long tests', () => npm('run', 'test:long'));
  // Checked again: the tests take long, and edits made meanwhile are untested.
  checkInput(version);
  await step('release', () => make(version));
  console.log(
    `Released ${version}: dist/belay-${version}.tgz. Publish it with: git push origin main v${version}`,
  );
});

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { 'dry-run': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new Instruction(`${(error as Error).message}\n\n${help}`);
  }
}

/** Returns the notes of the release. */
function checkInput(version: string): string {
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
  const tags = git('tag', '--list', 'v*').split('\n');
  assertNewVersion(version, [...versionsIn(changelog), ...tags.map((tag) => tag.slice(1))]);
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main')
    throw new Instruction(`Releases are made on the branch main; this is ${branch}.`);
  if (git('status', '--porcelain') !== '')
    throw new Instruction('The tree has uncommitted changes. Commit or remove them.');
  return unreleasedNotes(changelog);
}

/** All or nothing: if a step fails, what was written, committed and packed is undone. */
function make(version: string): void {
  const before = git('rev-parse', 'HEAD');
  const archive = join(folder, `dist/belay-${version}.tgz`);
  const texts = filesWithVersion(folder, version);
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
  const date = new Date().toISOString().slice(0, 10);
  texts.set('CHANGELOG.md', releaseNotes(changelog, version, date));
  const files = [...texts.keys()];
  // Ctrl-C ends the running command, whose failure undoes the rest.
  const ignore = () => {};
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, ignore);
  try {
    for (const [path, text] of texts) writeFileSync(join(folder, path), text);
    npm('run', 'test:package');
    if (!existsSync(archive))
      throw new Instruction(`npm run test:package did not make ${archive}.`);
    git('commit', '--quiet', '--message', `chore: release ${version}`, '--', ...files);
    git('tag', '--annotate', '--message', `Belay ${version}`, `v${version}`);
  } catch (error) {
    git('reset', '--quiet', '--soft', before);
    git('checkout', '--quiet', before, '--', ...files);
    rmSync(archive, { force: true });
    throw error;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, ignore);
  }
}

function npm(...args: string[]): void {
  runHere('npm', args, 'inherit');
}

function git(...args: string[]): string {
  return runHere('git', args, 'pipe').trim();
}

/** Returns the command’s standard output if `output` is `pipe`. */
function runHere(command: string, args: string[], output: 'inherit' | 'pipe'): string {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', output, output],
  });
  if (error) throw new Instruction(`${command} cannot be run: ${error.message}`);
  if (status !== 0)
    throw new Instruction(
      `“${[command, ...args.slice(0, 2)].join(' ')}” failed. ${stderr?.trim() || 'Its output is above.'} Nothing was released.`,
    );
  return stdout ?? '';
}
