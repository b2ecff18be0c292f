import { z } from 'zod';

/** The name of a class of the cluster. */
export const clusterClassName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/, 'write the name of a class of the cluster');

const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(['Equal', 'Exists']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().optional(),
});

/** The nodes of pods and who goes before them, as a JSON object of fields of their spec. */
export const podScheduling = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('write JSON, such as {"nodeSelector":{"pool":"agents"}}');
      return z.NEVER;
    }
  })
  .pipe(
    z.strictObject({
      nodeSelector: z.record(z.string(), z.string()).optional(),
      tolerations: z.array(toleration).optional(),
      priorityClassName: clusterClassName.optional(),
    }),
  );

/** Where and how the cluster runs pods: fields of their spec. */
export type PodScheduling = z.output<typeof podScheduling> & {
  runtimeClassName?: string | undefined;
};
