import { z } from 'zod';
import { defineOperation } from '../operation.js';

const commit = z.string().regex(/^[0-9a-f]{7,40}$/, 'a commit of the history');

/** The shadow history: a commit for each operation that changed files, outside the workspace’s own repository. */
export const workspaceOperations = {
  'workspace.log': defineOperation({
    name: 'workspace.log',
    title: 'List the steps',
    description: 'Lists the commits of the history, newest first.',
    risk: 'read',
    audience: ['person', 'viewer'],
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
    name: 'workspace.diff',
    title: 'Show the changes',
    description:
      'Shows the changes between two commits as a unified diff; the whole session when both are left out.',
    risk: 'read',
    audience: ['person', 'viewer'],
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
    }),
  }),
  'workspace.show': defineOperation({
    name: 'workspace.show',
    title: 'Show a file as it was',
    description: 'Reads a file as it was at a commit.',
    risk: 'read',
    audience: ['person', 'viewer'],
    input: z.object({ commit, path: z.string().min(1) }),
    output: z.object({ content: z.string(), encoding: z.enum(['utf8', 'base64']) }),
  }),
  'workspace.rewind': defineOperation({
    name: 'workspace.rewind',
    title: 'Rewind the files',
    description:
      'Puts all files back as they were at a commit; with `preview` only tells what would change.',
    risk: 'write',
    audience: ['person'],
    input: z.object({ commit, preview: z.boolean().default(false) }),
    output: z.object({
      files: z.array(z.object({ path: z.string(), status: z.string() })),
      commit: commit.nullable().describe('The commit of the rewound state; null for a preview.'),
    }),
  }),
  'workspace.trust': defineOperation({
    name: 'workspace.trust',
    title: 'Trust the workspace',
    description:
      'Lets AGENTS.md and skills of the workspace guide the agent; with `preview` only shows what they say.',
    risk: 'read',
    audience: ['person'],
    input: z.object({ preview: z.boolean().default(false) }),
    output: z.object({
      files: z.array(z.object({ path: z.string(), text: z.string() })),
    }),
  }),
};
