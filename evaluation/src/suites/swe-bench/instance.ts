import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { imageAssets } from './image-assets.js';

/** Lists of tests are JSON in a string, or lists. */
const testList = z
  .union([z.string(), z.array(z.string())])
  .transform((value, context) => (typeof value === 'string' ? parsedList(value, context) : value));

function parsedList(text: string, context: z.RefinementCtx): string[] {
  if (!text.trim()) return [];
  try {
    return z.array(z.string()).parse(JSON.parse(text));
  } catch {
    context.addIssue('is not a JSON list of strings');
    return z.NEVER;
  }
}

const instance = z.object({
  repo: z.string(),
  instance_id: z.string(),
  base_commit: z.string().default(''),
  patch: z.string().default(''),
  test_patch: z.string().default(''),
  version: z
    .union([z.string(), z.number(), z.null()])
    .default('')
    .transform((version) => String(version ?? '')),
  problem_statement: z.string(),
  FAIL_TO_PASS: testList.default([]),
  PASS_TO_PASS: testList.default([]),
  image: z.string().optional(),
  eval_script: z.string().optional(),
  log_parser: z.string().optional(),
  eval_type: z.enum(['pass_and_fail', 'fail_only']).default('pass_and_fail'),
  base_files: z.record(z.string(), z.string()).optional(),
  node_version: z.string().optional(),
  image_assets: imageAssets,
});
export type Instance = z.infer<typeof instance>;

/** Throws `invalid_input` with the wrong fields. */
export function parsedInstance(line: unknown): Instance {
  const found = instance.safeParse(line);
  if (found.success) return found.data;
  throw new AppError(
    'invalid_input',
    `An instance cannot be read: ${z.prettifyError(found.error)}`,
  );
}
