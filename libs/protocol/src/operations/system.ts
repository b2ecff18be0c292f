import { z } from 'zod';
import { defineOperation } from '../operation.js';

export const systemOperations = {
  'system.info': defineOperation({
    name: 'system.info',
    title: 'Describe the sandbox',
    description: 'Tells the operating system, processors, memory, disk and tools of the sandbox.',
    risk: 'read',
    input: z.object({}),
    output: z.object({
      os: z.string(),
      architecture: z.string(),
      cpus: z.number().positive(),
      memoryBytes: z.int().positive(),
      memoryUsedBytes: z.int().nonnegative(),
      diskFreeBytes: z.int().nonnegative(),
      user: z.string(),
      workspace: z.string(),
      tools: z
        .record(z.string(), z.string())
        .describe('Tool to its path, for those that are there.'),
    }),
  }),
  'system.time': defineOperation({
    name: 'system.time',
    title: 'Tell the time',
    description: 'Tells date, time and time zone of the sandbox.',
    risk: 'read',
    input: z.object({}),
    output: z.object({ time: z.iso.datetime({ offset: true }), zone: z.string() }),
  }),
};
