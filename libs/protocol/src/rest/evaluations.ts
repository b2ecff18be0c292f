import { z } from 'zod';
import {
  evaluation,
  evaluationChanges,
  evaluationInfo,
  evaluationSummary,
  evaluationTrial,
  reportedTrials,
} from '../evaluations.js';
import { count } from './count.js';
import { pageQuery } from './page.js';
import { bytes, nothing, route } from './route.js';

/** Benchmark runs on the board; their results are files on the machine that runs them. */
/** The tasks of a whole suite, or the trials of a long break of the connection. */
const longReport = { bodyBytes: 16 * 2 ** 20 };

export const evaluationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/evaluations',
    summary: 'The benchmark runs on the board, the last id first',
    query: pageQuery,
    paged: true,
    response: z.array(evaluationSummary),
  }),
  get: route({
    method: 'GET',
    path: '/api/evaluations/:id',
    summary: 'A run with the ids of its tasks',
    response: evaluation,
  }),
  /** Trials that changed after report `after`. */
  trials: route({
    method: 'GET',
    path: '/api/evaluations/:id/trials',
    summary: 'Trials that changed after a report',
    query: z.object({ after: count.default(0) }),
    response: reportedTrials,
  }),
  blob: route({
    method: 'GET',
    path: '/api/evaluations/:id/blobs/:blob',
    summary: 'An answer of a trial, or what its tests printed',
    response: bytes('*/*'),
  }),
  /** Begins or resumes the reports of a run; returns the epoch to report with and what is known. */
  open: route({
    method: 'PUT',
    path: '/api/evaluations/:id',
    summary: 'Begins to report a run, or resumes it; an older process is refused from then on',
    params: z.object({ id: z.string().regex(/^[\w-]{1,64}$/) }),
    body: evaluationInfo,
    ...longReport,
    response: z.object({ epoch: z.int().positive(), trials: z.array(evaluationTrial) }),
  }),
  /** `conflict` when another process has opened the run since, `not_found` when it was removed. */
  report: route({
    method: 'POST',
    path: '/api/evaluations/:id/reports',
    summary: 'Reports what changed in a run',
    body: evaluationChanges,
    ...longReport,
    response: nothing,
    unaudited: true,
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/evaluations/:id',
    summary: 'Takes a run off the board; its results and sessions stay',
    response: nothing,
  }),
};
