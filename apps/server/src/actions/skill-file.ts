import { createHash } from 'node:crypto';
import { actionManifest, AppError } from '@belay/protocol';
import { parse } from 'yaml';
import { z } from 'zod';
import { parsedBy, unusableFile, type Declared, type ReadManifest } from './manifest.js';

/** Limits for what a model reads at once, and for the files that an agent gets. */
const limits = { instructions: 64_000, frontMatter: 16_000, files: 500, bytes: 12 * 2 ** 20 };

/** The front matter of Agent Skills (agentskills.io); other fields than these two are for people. */
const frontMatter = z.looseObject({
  name: z
    .string()
    .max(64, 'at most 64 characters')
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lowercase letters and digits, with single - between them'),
  description: z.string().trim().min(1, 'it is empty').max(1_024, 'at most 1,024 characters'),
  compatibility: z.string().max(500, 'at most 500 characters').optional(),
});

/** Reads a `SKILL.md`. Throws `invalid_input` or `too_large` with one sentence that names the field. */
export function readSkillFile({ content, where, folder, files }: Declared): ReadManifest {
  const others = files.filter(({ path }) => path !== 'SKILL.md');
  if (content.length > limits.instructions)
    throw tooLarge(`${where} is larger than 64 KB: move details into files beside it`);
  const bytes = others.reduce((sum, file) => sum + file.content.length, 0);
  if (others.length > limits.files || bytes > limits.bytes)
    throw tooLarge(`The skill of ${where} has more than ${limits.files} files or 12 MiB`);
  const { name, description, compatibility } = parsedBy(
    frontMatter,
    frontMatterOf(content.toString('utf8'), where),
    where,
  );
  const parent = folder.split('/').at(-1);
  const manifest = actionManifest.parse({
    kind: 'skill',
    name_for_human: name,
    name_for_model: name,
    description_for_human: description,
    description_for_model: [description, compatibility && `Needs: ${compatibility}`]
      .filter(Boolean)
      .join('\n'),
    skill: {
      instructions: createHash('sha256').update(content).digest('hex').slice(0, 12),
      files: others.length,
      programs: others.flatMap(({ path, executable }) => (executable ? [path] : [])).slice(0, 50),
    },
  });
  const warnings =
    parent && parent !== name ? [`${where} is called ${name}, but its folder is ${parent}.`] : [];
  return { manifest, warnings };
}

/** Parses without anchors, tags and other means by which a small text becomes a large value. */
function frontMatterOf(text: string, where: string): unknown {
  const head = text.replace(/^\uFEFF/, '').slice(0, limits.frontMatter);
  const block = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(head)?.[1];
  if (block === undefined)
    throw unusableFile(where, 'it does not begin with front matter (--- name and description ---)');
  try {
    const value: unknown = parse(block, { schema: 'core', maxAliasCount: 0, logLevel: 'error' });
    return value;
  } catch (error) {
    const [reason = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw unusableFile(where, `its front matter is not YAML (${reason.slice(0, 200)})`);
  }
}

const tooLarge = (what: string): AppError => new AppError('too_large', `${what}.`);
