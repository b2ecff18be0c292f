import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';
import { maxListedPorts, previewPort } from '../preview.js';

export const systemOperations = operationGroup({
  'system.info': defineOperation({
    title: 'Describe the sandbox',
    description: 'Reports the operating system, processors, memory, disk and tools of the sandbox.',
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
      tools: z.record(z.string(), z.string()).describe('The path of each installed tool.'),
    }),
  }),
  'system.ports': defineOperation({
    title: 'List listening ports',
    description: 'Lists the TCP ports that programs in the sandbox listen on, lowest first.',
    risk: 'read',
    audience: ['user', 'viewer'],
    input: z.object({}),
    output: z.object({ ports: z.array(previewPort).max(maxListedPorts) }),
    polls: () => true,
  }),
  'system.time': defineOperation({
    title: 'Get the time',
    description: 'Reports the date, time and time zone of the sandbox.',
    risk: 'read',
    essential: true,
    input: z.object({}),
    output: z.object({ time: z.iso.datetime({ offset: true }), zone: z.string() }),
    polls: () => true,
  }),
});
