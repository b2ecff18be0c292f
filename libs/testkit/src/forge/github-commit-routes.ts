import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer, textIn, textsIn, type ApiRoutes } from './api-routes.js';
import type { PlayedHook } from './forge-records.js';
import { githubError, type GithubContext } from './github-answers.js';
import { githubSeconds } from './github-payloads.js';

/** GitHub’s routes of commits, branches, checks and releases. */
export function githubCommitRoutes(context: GithubContext): ApiRoutes {
  const { state, payloads, checks, page } = context;
  const onCommit =
    (answer: (sha: string, asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) => {
      const sha = state.git.resolve(asked.at('sha'));
      if (sha === undefined) return githubError(422, `No commit found for SHA: ${asked.at('sha')}`);
      return answer(sha, asked);
    };
  const runsAt = (sha: string) => state.checksAt(sha).filter(({ kind }) => kind === 'run');
  return {
    ...hookRoutes(context),
    'GET R/commits/:sha': onCommit((sha) => {
      const commit = state.git.commitAt(sha);
      return commit && jsonAnswer(checks.commit(commit));
    }),
    'GET R/commits/:sha/status': onCommit((sha) => jsonAnswer(checks.combined(sha))),
    'GET R/commits/:sha/statuses': onCommit((sha, asked) =>
      page(
        asked,
        state.checksAt(sha).filter(({ kind }) => kind === 'status'),
        checks.status,
      ),
    ),
    'GET R/commits/:sha/check-runs': onCommit((sha, asked) => {
      const { body, ...answer } = page(asked, runsAt(sha), checks.run);
      return { ...answer, body: { total_count: runsAt(sha).length, check_runs: body } };
    }),
    'GET R/commits/:sha/check-suites': onCommit((sha) => {
      const runs = runsAt(sha);
      const all = runs[0] ? [checks.suite(sha, runs[0].branch)] : [];
      return jsonAnswer({ total_count: all.length, check_suites: all });
    }),
    'GET R/commits/:sha/pulls': onCommit((sha, asked) =>
      page(
        asked,
        state.pulls.filter(({ pull }) => pull.sha === sha || pull.merged?.sha === sha),
        payloads.pull,
      ),
    ),
    'GET R/branches/:name': ({ at }) => {
      const sha = state.git.resolve(`refs/heads/${at('name')}`);
      const commit = sha && state.git.commitAt(sha);
      if (!commit) return githubError(404, 'Branch not found');
      return jsonAnswer({ name: at('name'), commit: checks.commit(commit), protected: false });
    },
    'GET R/releases': (asked) => page(asked, state.releases.toReversed(), payloads.release),
    'GET R/releases/:id': ({ at }) => {
      const one = state.releases.find(({ id }) => String(id) === at('id'));
      return one && jsonAnswer(payloads.release(one));
    },
  };
}

/** Hooks are for admins; everybody else does not find them. */
function hookRoutes(context: GithubContext): ApiRoutes {
  const { state, sender } = context;
  const admins = (answer: (asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) =>
    state.self.level === 'admin' ? answer(asked) : undefined;
  const onHook = (answer: (hook: PlayedHook, asked: Asked) => PlayedAnswer) =>
    admins((asked) => {
      const hook = sender.hooks.find(({ id }) => String(id) === asked.at('id'));
      return hook && answer(hook, asked);
    });
  const shown = (hook: PlayedHook) => context.hookShown(hook);
  return {
    'GET R/hooks': admins((asked) => context.page(asked, sender.hooks, shown)),
    'POST R/hooks': admins(({ body }) => {
      const config = configIn(body);
      const refused = (more: object) =>
        githubError(422, 'Validation Failed', [{ resource: 'Hook', ...more }]);
      if (!URL.canParse(config.url))
        return refused({ code: 'custom', message: 'url is missing or invalid', field: 'url' });
      if (sender.hooks.some(({ url }) => url === config.url))
        return refused({ code: 'custom', message: 'Hook already exists on this repository' });
      const events = textsIn(body, 'events') ?? ['push'];
      const isActive = body['active'] !== false;
      const made = { id: state.nextId(), events, isActive, signingSecret: null };
      const hook = { ...made, ...config, created: state.time() };
      sender.hooks.push(hook);
      context.ping(hook);
      return jsonAnswer(shown(hook), 201);
    }),
    'GET R/hooks/:id': onHook((hook) => jsonAnswer(shown(hook))),
    'PATCH R/hooks/:id': onHook((hook, { body }) => {
      // GitHub replaces the whole configuration: a secret that is left out is removed.
      if (body['config'] !== undefined) Object.assign(hook, configIn(body));
      Object.assign(hook, {
        events: textsIn(body, 'events') ?? hook.events,
        isActive: body['active'] ?? hook.isActive,
      });
      return jsonAnswer(shown(hook));
    }),
    'DELETE R/hooks/:id': onHook((hook) => {
      sender.hooks.splice(sender.hooks.indexOf(hook), 1);
      return { status: 204 };
    }),
    'POST R/hooks/:id/pings': onHook((hook) => {
      context.ping(hook);
      return { status: 204 };
    }),
    'GET R/hooks/:id/deliveries': onHook((hook, asked) => {
      const own = sender.deliveries.filter((one) => one.hook === hook.id).toReversed();
      return context.page(asked, own, (one) => ({
        id: one.id,
        guid: one.guid,
        delivered_at: githubSeconds(one.at),
        redelivery: one.isRedelivery,
        duration: 0.1,
        status: one.status === null ? 'failed to connect to host' : `${one.status}`,
        status_code: one.status ?? 502,
        event: one.event,
        action: null,
        installation_id: null,
        repository_id: state.id,
        throttled_at: null,
      }));
    }),
    'POST R/hooks/:id/deliveries/:delivery/attempts': onHook((_hook, { at }) => {
      sender.redeliver(Number(at('delivery')));
      return { status: 202, body: {} };
    }),
  };
}

function configIn(body: Record<string, unknown>): Pick<PlayedHook, 'url' | 'secret' | 'isForm'> {
  const config = (body['config'] ?? {}) as Record<string, unknown>;
  return {
    url: textIn(config, 'url') ?? '',
    secret: textIn(config, 'secret') ?? null,
    isForm: config['content_type'] !== 'json',
  };
}
