import { z } from 'zod';
import { comparison, keepRequest, newComparison } from '../comparisons.js';
import { pageQuery } from './page.js';
import { nothing, route } from './route.js';

/** One task for several models, agents or runs. A comparison is visible to callers who see all of its sessions. */
export const comparisonRoutes = {
  list: route({
    method: 'GET',
    path: '/api/comparisons',
    summary: 'Lists the comparisons, newest first',
    query: pageQuery,
    paged: true,
    response: z.array(comparison),
    about: 'caller',
  }),
  create: route({
    method: 'POST',
    path: '/api/comparisons',
    summary:
      'Starts a session for each model or agent and each run; all are checked before the first session starts',
    body: newComparison,
    bodyBytes: 2 * 2 ** 20,
    response: comparison,
    about: 'caller',
    status: 201,
  }),
  get: route({
    method: 'GET',
    path: '/api/comparisons/:id',
    summary: 'Returns a comparison with the summaries of its sessions',
    response: comparison,
    about: 'caller',
  }),
  keep: route({
    method: 'POST',
    path: '/api/comparisons/:id/keep',
    summary: 'Keeps one session: the others are stopped and archived',
    body: keepRequest,
    nameField: 'session',
    response: comparison,
    about: 'caller',
  }),
  undo: route({
    method: 'POST',
    path: '/api/comparisons/:id/undo',
    summary: 'Undoes the choice: restores the other sessions, and restarts those that were stopped',
    response: comparison,
    about: 'caller',
  }),
  check: route({
    method: 'POST',
    path: '/api/sessions/:id/check',
    summary: 'Runs the check command of an ended session again, in its sandbox',
    response: nothing,
  }),
};
