import type { Asked, PlayedAnswer } from './api-player.js';
import { changedSince, isOnIn, jsonAnswer, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedHook } from './forge-records.js';
import { gitlabError, gitlabMissing, type GitlabContext } from './gitlab-answers.js';
import { gitlabSwitches } from './gitlab-hook-headers.js';

/** GitLab’s routes of commits, pipelines and releases. */
export function gitlabCommitRoutes(context: GitlabContext): ApiRoutes {
  const { state, payloads, page } = context;
  const { commits } = payloads;
  const onCommit =
    (answer: (sha: string, asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) => {
      const sha = state.git.resolve(asked.at('sha'));
      return sha === undefined ? gitlabError(404, '404 Commit Not Found') : answer(sha, asked);
    };
  const pipelines = () =>
    [...new Set(state.checks.map(({ sha }) => sha))].flatMap((sha) => {
      const pipeline = commits.pipeline(sha);
      return pipeline ? [{ ...pipeline, updated: pipeline.updated_at }] : [];
    });
  const pipelineAt = ({ at }: Asked) => pipelines().find(({ id }) => String(id) === at('id'));
  return {
    ...hookRoutes(context),
    'GET P/repository/commits/:sha': onCommit((sha) => {
      const commit = state.git.commitAt(sha);
      return (
        commit &&
        jsonAnswer({
          ...commits.commit(commit),
          last_pipeline: commits.pipeline(sha),
          status: null,
        })
      );
    }),
    'GET P/repository/commits/:sha/statuses': onCommit((sha, asked) =>
      page(asked, state.checksAt(sha), commits.status),
    ),
    'GET P/repository/commits/:sha/merge_requests': onCommit((sha, asked) =>
      page(
        asked,
        state.pulls.filter(({ pull }) => pull.sha === sha || pull.merged?.sha === sha),
        payloads.merge,
      ),
    ),
    'GET P/repository/branches/:name': ({ at }) => {
      const sha = state.git.resolve(`refs/heads/${at('name')}`);
      const commit = sha && state.git.commitAt(sha);
      if (!commit) return gitlabError(404, '404 Branch Not Found');
      const isDefault = at('name') === state.defaultBranch;
      const shown = { name: at('name'), merged: false, protected: isDefault, default: isDefault };
      return jsonAnswer({ ...shown, can_push: true, commit: commits.commit(commit) });
    },
    'GET P/pipelines': (asked) => {
      const { query } = asked;
      const fits = (name: 'ref' | 'sha' | 'status', value: string) =>
        (query.get(name) ?? value) === value;
      const list = changedSince(pipelines(), query.get('updated_after')).filter(
        (one) => fits('ref', one.ref) && fits('sha', one.sha) && fits('status', one.status),
      );
      return page(asked, list.toReversed(), ({ updated: _updated, ...shown }) => shown);
    },
    'GET P/pipelines/:id': (asked) => {
      const found = pipelineAt(asked);
      return found && jsonAnswer({ ...found, updated: undefined, user: null, coverage: null });
    },
    'GET P/pipelines/:id/jobs': (asked) => {
      const found = pipelineAt(asked);
      return found && page(asked, commits.jobs(found.sha), commits.job);
    },
    'GET P/jobs/:id': ({ at }) => {
      const job = state.checks.find(({ id }) => String(id) === at('id'));
      return job && jsonAnswer(commits.job(job));
    },
    'GET P/jobs/:id/trace': ({ at }) => {
      const job = state.checks.find(({ id }) => String(id) === at('id'));
      return job && { status: 200, body: job.summary ?? '', headers: { 'content-type': 'text/plain' } }; // prettier-ignore
    },
    'GET P/releases': (asked) => page(asked, state.releases.toReversed(), commits.release),
    'GET P/releases/:tag': ({ at }) => {
      const release = state.releases.find(({ tag }) => tag === at('tag'));
      return release && jsonAnswer(commits.release(release));
    },
  };
}

/** Hooks are for maintainers. GitLab never shows their tokens. */
function hookRoutes(context: GitlabContext): ApiRoutes {
  const { state, sender } = context;
  const onHook = (answer: (hook: PlayedHook, asked: Asked) => PlayedAnswer) => (asked: Asked) => {
    const hook = sender.hooks.find(({ id }) => String(id) === asked.at('id'));
    return context.refused('maintain') ?? (hook && answer(hook, asked));
  };
  return {
    'GET P/hooks': (asked) =>
      context.refused('maintain') ??
      context.page(asked, sender.hooks, (one) => shown(context, one)),
    'POST P/hooks': ({ body }) => {
      const refusal = context.refused('maintain');
      const url = textIn(body, 'url');
      if (refusal) return refusal;
      if (url === undefined) return gitlabMissing('url');
      if (!URL.canParse(url)) return gitlabError(422, 'Invalid url given');
      const made = { id: state.nextId(), url, isActive: true, isForm: false };
      const secrets = { secret: textIn(body, 'token') ?? null, signingSecret: null };
      // Only pushes are sent unless other events are asked for.
      const hook = { ...made, ...secrets, events: ['push_events'], created: state.time() };
      change(hook, body);
      sender.hooks.push(hook);
      return jsonAnswer(shown(context, hook), 201);
    },
    'GET P/hooks/:id': onHook((hook) => jsonAnswer(shown(context, hook))),
    'PUT P/hooks/:id': onHook((hook, { body }) => {
      hook.url = textIn(body, 'url') ?? hook.url;
      hook.secret = textIn(body, 'token') ?? hook.secret;
      change(hook, body);
      return jsonAnswer(shown(context, hook));
    }),
    'DELETE P/hooks/:id': onHook((hook) => {
      sender.hooks.splice(sender.hooks.indexOf(hook), 1);
      return { status: 204 };
    }),
    'GET P/hooks/:id/events': onHook((hook, asked) =>
      context.page(
        asked,
        sender.deliveries.filter((one) => one.hook === hook.id).toReversed(),
        (one) => ({
          id: one.id,
          url: one.url,
          trigger: one.event,
          response_status: one.status === null ? 'internal error' : String(one.status),
        }),
      ),
    ),
    'POST P/hooks/:id/events/:event/resend': onHook((_hook, { at }) => {
      const delivery = sender.redeliver(Number(at('event')));
      return jsonAnswer({ response_status: delivery.status }, 201);
    }),
  };
}

function change(hook: PlayedHook, body: Record<string, unknown>): void {
  hook.signingSecret = textIn(body, 'signing_token') ?? hook.signingSecret;
  const isOn = (name: string) =>
    body[name] === undefined ? hook.events.includes(name) : isOnIn(body, name);
  hook.events = gitlabSwitches.filter(isOn);
}

function shown({ state }: GitlabContext, hook: PlayedHook): object {
  const events = gitlabSwitches.map((name) => [name, hook.events.includes(name)]);
  return {
    id: hook.id,
    url: hook.url,
    name: null,
    description: null,
    project_id: state.id,
    created_at: hook.created,
    ...Object.fromEntries(events),
    push_events_branch_filter: null,
    enable_ssl_verification: true,
    alert_status: 'executable',
    disabled_until: null,
    url_variables: [],
    custom_headers: [],
  };
}
