import { sessionEventRoutes, type Event } from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionService } from '../../sessions/session.service.js';
import { countItems } from '../limits/request-rates.js';
import { abortedOnClose } from './aborted-on-close.js';
import { sendEvents } from './send-events.js';
import { linkNext } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionEventRoutes>;

/** The interval of keep-alive comments, because proxies close silent streams. */
const idleMs = 15_000;

@RestController(sessionEventRoutes)
export class SessionEventsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly feed: EventFeed,
  ) {}

  async events(
    { params, query: { wait, ...range } }: Inputs['events'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Event[]> {
    const asked = { ...range, waitMs: wait * 1_000 };
    const events = await this.feed.next(params.id, asked, abortedOnClose(response));
    countItems(request, events.length);
    linkNext({ request, response }, events.at(-1)?.seq ?? range.after);
    return events;
  }

  async stream(
    { params, query }: Inputs['stream'],
    @Req() { headers }: Request,
    @Res() response: Response,
  ): Promise<void> {
    const signal = abortedOnClose(response);
    const after = seqOf(headers['last-event-id']) ?? query.after;
    await this.sessions.summary(params.id);
    const pages = this.feed.follow(params.id, { after, idleMs }, signal);
    await sendEvents(response, pages, signal);
  }
}

/** The number in a `Last-Event-ID`; undefined for anything else. */
const seqOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
