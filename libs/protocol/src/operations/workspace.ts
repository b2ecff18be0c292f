import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';
import { changeTotal } from '../change-total.js';
import { pluralText } from '../format.js';

const commit = z.string().regex(/^[0-9a-f]{7,40}$/, 'a commit of the history');

/** A guidance file that the user trusts: other text at the same path is not trusted. */
export const guidanceHash = z.object({
  path: z.string().max(4_096),
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'the SHA-256 of its text'),
});
export type GuidanceHash = z.infer<typeof guidanceHash>;

/** The shadow history: a commit for each operation that changed files, outside the workspace’s own repository. */
export const workspaceOperations = operationGroup({
  'workspace.log': defineOperation({
    title: 'List the steps',
    description: 'Lists the commits of the history, newest first.',
    risk: 'read',
    audience: ['user', 'viewer'],
    input: z.object({ limit: z.int().positive().max(5_000).default(200) }),
    output: z.object({
      steps: z.array(
        z.object({
          commit,
          time: z.iso.datetime({ offset: true }),
          call: z.string(),
          message: z.string(),
        }),
      ),
    }),
  }),
  'workspace.diff': defineOperation({
    title: 'Show the changes',
    description:
      'Shows the changes between two commits as a unified diff; those of the whole session if both are omitted.',
    risk: 'read',
    audience: ['user', 'viewer'],
    essential: true,
    input: z.object({
      from: commit.optional(),
      to: commit.optional(),
      path: z.string().optional(),
    }),
    output: z.object({
      diff: z.string(),
      truncated: z.boolean(),
      files: z.array(
        z.object({
          path: z.string(),
          status: z.enum(['added', 'modified', 'deleted', 'renamed']),
          added: z.int().nonnegative(),
          removed: z.int().nonnegative(),
          binary: z.boolean(),
        }),
      ),
      total: changeTotal.optional().describe('All changed files, if `files` lists only a part.'),
    }),
    subject: ({ path = '' }) => path,
  }),
  'workspace.show': defineOperation({
    title: 'Show a file as it was',
    description: 'Reads a file as it was at a commit.',
    risk: 'read',
    audience: ['user', 'viewer'],
    input: z.object({ commit, path: z.string().min(1) }),
    output: z.object({ content: z.string(), encoding: z.enum(['utf8', 'base64']) }),
    subject: ({ path }) => path,
  }),
  'workspace.rewind': defineOperation({
    title: 'Rewind the files',
    description:
      'Restores all files to their state at a commit; with `preview`, only reports what would change.',
    risk: 'write',
    audience: ['user'],
    input: z.object({ commit, preview: z.boolean().default(false) }),
    output: z.object({
      files: z.array(z.object({ path: z.string(), status: z.string() })),
      commit: commit.nullable().describe('The commit of the rewound state; null for a preview.'),
      to: z
        .object({ time: z.iso.datetime({ offset: true }), message: z.string() })
        .optional()
        .describe('The step whose files were restored: its time and what it did.'),
    }),
    summary: () => '',
    told: ({ files, to }) => {
      const step = to ? `“${to.message}” of ${utc(to.time)}` : 'an earlier step';
      const effect =
        files.length === 0
          ? 'no file differed'
          : `which changed ${pluralText(files.length, 'file')}`;
      return `rewound the files to ${step}, ${effect}.`;
    },
    commitsItself: true,
    quiet: ({ preview }) => preview,
  }),
  'workspace.undo': defineOperation({
    title: 'Undo a step',
    description:
      'Undoes the changes of one commit and keeps those of later ones, like `git revert`; refused if later changes touch the same lines. With `preview`, only reports what would change.',
    risk: 'write',
    audience: ['user'],
    input: z.object({ commit, preview: z.boolean().default(false) }),
    output: z.object({
      files: z.array(z.object({ path: z.string(), status: z.string() })),
      commit: commit.nullable().describe('The commit without the step; null for a preview.'),
      undone: z
        .object({ commit, time: z.iso.datetime({ offset: true }), message: z.string() })
        .describe('The step whose changes were undone.'),
    }),
    told: ({ files, undone }) =>
      `undid the step “${undone.message}” of ${utc(undone.time)}, which changed ${pluralText(files.length, 'file')}.`,
    commitsItself: true,
    quiet: ({ preview }) => preview,
  }),
  'workspace.trust': defineOperation({
    title: 'Trust the workspace',
    description:
      'Trusts the AGENTS.md files (or CLAUDE.md and others where there are none) and skills of the workspace, as they are now, to guide the agent, and the project’s settings of another vendor’s agent; with `preview`, only shows their text.',
    risk: 'read',
    audience: ['user'],
    input: z.object({
      preview: z.boolean().default(false),
      shown: z
        .array(guidanceHash)
        .max(200)
        .optional()
        .describe(
          'The files that the user has read; the call is refused if the workspace now has others.',
        ),
    }),
    output: z.object({
      files: z.array(
        guidanceHash.partial({ hash: true }).extend({
          text: z.string(),
          executable: z.boolean().optional().describe('Whether it can be run as a program.'),
        }),
      ),
    }),
    display: 'event',
    changesGuidance: true,
    outlivesRewind: true,
    quiet: ({ preview }) => preview,
  }),
});

/** A time to the second, for people. */
const utc = (time: string): string =>
  `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
