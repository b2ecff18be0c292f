import { Injectable } from '@nestjs/common';
import {
  claimText,
  isEvent,
  newEvent,
  type Event,
  type EventArgs,
  type EventOf,
  type PlannedPush,
  type RerunReport,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';

type PullRequest = EventArgs<'publish'>['pullRequest'];

/** A session’s pushes, as its log has them: each is planned before it is sent, and recorded once it has arrived. */
@Injectable()
export class SessionPushes {
  constructor(private readonly log: EventLog) {}

  /** The commit that was last recorded for a branch, the last plan for it, and that again if it was not recorded. */
  async to(
    session: string,
    { url, branch }: Pick<PlannedPush, 'url' | 'branch'>,
  ): Promise<{
    pushed: string | undefined;
    planned: PlannedPush | undefined;
    latest: PlannedPush | undefined;
  }> {
    const events = await this.log.read(session, { after: 0 });
    const isThere = ({ args }: EventOf<'publish' | 'pushing'>): boolean =>
      args.url === url && args.branch === branch;
    const recorded = events.filter((event) => isEvent(event, 'publish')).filter(isThere);
    const plans = events.filter((event): event is Event & EventOf<'pushing'> =>
      isEvent(event, 'pushing'),
    );
    const latest = plans.findLast(isThere)?.args;
    const isRecorded = recorded.some(({ args }) => args.commit === latest?.commit);
    return {
      pushed: recorded.at(-1)?.args.commit,
      planned: isRecorded ? undefined : latest,
      latest,
    };
  }

  /** Stored before anything is sent. */
  async plan(session: string, push: PlannedPush): Promise<void> {
    const { commit, branch, url } = push;
    const message = `Pushing ${commit.slice(0, 7)} to the branch ${branch} of ${url}.`;
    await this.log.append(session, [newEvent('user', 'pushing', { args: push, message })]);
  }

  /** Records a push that has arrived. One that is recorded already gets at most its pull request. */
  async record(
    session: string,
    { url, into, branch, base, commit }: PlannedPush,
    {
      opened,
      reruns,
    }: { opened: Omit<NonNullable<PullRequest>, 'into'> | null; reruns: RerunReport | null },
  ): Promise<void> {
    if (!opened && (await this.to(session, { url, branch })).pushed === commit) return;
    const link = opened ? ` Pull request: ${opened.url}` : '';
    const event = newEvent('user', 'publish', {
      args: { url, branch, base, commit, pullRequest: opened && { ...opened, into }, reruns },
      message: [`Pushed ${commit.slice(0, 7)} to the branch ${branch} of ${url}.${link}`]
        .concat(reruns?.claims.map(claimText) ?? [])
        .join('\n'),
    });
    await this.log.append(session, [event]);
  }
}
