import type { automationJob } from '@belay/protocol';
import { parse } from 'yaml';
import { z } from 'zod';
import { fixIssueJob } from './fix-issue-job.js';
import { fixCiJob } from './fix-ci-job.js';
import { answerReviewJob } from './answer-review-job.js';
import { reviewJob } from './review-job.js';
import { dependenciesJob } from './dependencies-job.js';
import { nightlyJob } from './nightly-job.js';

const texts = [fixIssueJob, fixCiJob, answerReviewJob, reviewJob, dependenciesJob, nightlyJob];

const head = z.object({ name: z.string(), description: z.string() });

/** Definitions to begin with: OWNER/NAME stands for a repository. They are text of the program, so that each build has them. */
export const automationJobs = (): z.infer<typeof automationJob>[] =>
  texts.map((text) => ({ ...head.parse(parse(text)), text }));
