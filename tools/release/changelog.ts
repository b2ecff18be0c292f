import { Instruction } from '../prepare/steps.mjs';

const heading = '## [Unreleased]';

/** The changelog’s notes on the next release; throws if there are none. */
export function unreleasedNotes(changelog: string): string {
  const [, rest] = changelog.split(`\n${heading}\n`);
  if (rest === undefined)
    throw new Instruction(`CHANGELOG.md has no section “${heading}”. Add it, with what changed.`);
  const notes = rest.replace(/^## [^]*/m, '').trim();
  if (!/^- \S/m.test(notes))
    throw new Instruction(
      `The section “${heading}” of CHANGELOG.md lists no change. Write there what users get.`,
    );
  return notes;
}

/** The changelog with its unreleased changes moved to this version. */
export function releaseNotes(changelog: string, version: string, date: string): string {
  return changelog.replace(`\n${heading}\n`, `\n${heading}\n\n## [${version}] - ${date}\n`);
}

/** The versions that have a section. */
export function versionsIn(changelog: string): string[] {
  return changelog.match(/(?<=^## \[)\d[^\]]*(?=\])/gm) ?? [];
}
