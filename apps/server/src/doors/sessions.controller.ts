import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  forkRequest,
  newMessage,
  newSession,
  rewindRequest,
  sessionChange,
  type Event,
  type SessionSummary,
} from '@belay/protocol';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { Forking, type Rewound } from '../sessions/forking.js';
import { SessionService } from '../sessions/session.service.js';

class NewSessionBody extends createZodDto(newSession) {}
class MessageBody extends createZodDto(newMessage) {}
class ChangeBody extends createZodDto(sessionChange) {}
class ForkBody extends createZodDto(forkRequest) {}
class RewindBody extends createZodDto(rewindRequest) {}
class EventsQuery extends createZodDto(
  z.object({
    after: z.coerce.number().int().nonnegative().default(0),
    limit: z.coerce.number().int().positive().max(50_000).default(10_000),
  }),
) {}

@Controller('api/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly forking: Forking,
  ) {}

  @Get()
  list(): Promise<SessionSummary[]> {
    return this.sessions.list();
  }

  @Post()
  create(@Body() body: NewSessionBody): Promise<SessionSummary> {
    return this.sessions.create(body);
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<SessionSummary> {
    return this.sessions.summary(id);
  }

  @Patch(':id')
  change(@Param('id') id: string, @Body() body: ChangeBody): Promise<SessionSummary> {
    return this.sessions.change(id, body);
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id') id: string): Promise<void> {
    return this.sessions.remove(id);
  }

  @Get(':id/events')
  events(@Param('id') id: string, @Query() range: EventsQuery): Promise<Event[]> {
    return this.sessions.events(id, range);
  }

  @Post(':id/messages')
  @HttpCode(204)
  message(@Param('id') id: string, @Body() body: MessageBody): Promise<void> {
    return this.sessions.message(id, body);
  }

  @Post(':id/pause')
  @HttpCode(204)
  pause(@Param('id') id: string): Promise<void> {
    return this.sessions.pause(id);
  }

  @Post(':id/resume')
  @HttpCode(204)
  resume(@Param('id') id: string): Promise<void> {
    return this.sessions.resume(id);
  }

  @Post(':id/stop')
  @HttpCode(204)
  stop(@Param('id') id: string): Promise<void> {
    return this.sessions.stop(id);
  }

  @Post(':id/restart')
  @HttpCode(204)
  restart(@Param('id') id: string): Promise<void> {
    return this.sessions.restart(id);
  }

  @Post(':id/wake')
  @HttpCode(204)
  wake(@Param('id') id: string): Promise<void> {
    return this.sessions.wake(id);
  }

  @Post(':id/fork')
  fork(@Param('id') id: string, @Body() body: ForkBody): Promise<SessionSummary> {
    return this.forking.fork(id, body);
  }

  @Post(':id/rewind')
  @HttpCode(200)
  rewind(@Param('id') id: string, @Body() body: RewindBody): Promise<Rewound> {
    return this.forking.rewind(id, body);
  }
}
