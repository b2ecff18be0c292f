import { buffer } from 'node:stream/consumers';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Req,
} from '@nestjs/common';
import {
  AppError,
  modelName,
  newRule,
  providerChange,
  providerName,
  type Check,
  type Example,
  type ModelChoice,
  type ProviderSetup,
  type Role,
  type Rule,
  type RulePreview,
} from '@belay/protocol';
import type { Request } from 'express';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { RulePreviews } from '../approvals/rule-preview.js';
import { RulesStore } from '../approvals/rules.store.js';
import { Config } from '../config.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { ModelGateway, type Trial } from '../models/model-gateway.js';
import { ProviderKeys } from '../models/provider-keys.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { BlobStore, maxBlobBytes } from '../logs/blob-store.js';
import type { Found } from '../logs/event-text.js';
import { Examples } from '../sessions/examples.js';
import { Search } from '../sessions/search.js';
import { WorkspaceStore } from '../sessions/workspace.store.js';
import { diskCheck } from '../storage/disk-check.js';
import { Identity } from './identity.js';

class SearchQuery extends createZodDto(z.object({ q: z.string().max(1_000) })) {}
class TrialBody extends createZodDto(z.object({ model: modelName })) {}
class ProviderParams extends createZodDto(z.object({ provider: providerName })) {}
class ProviderBody extends createZodDto(providerChange) {}
class RuleBody extends createZodDto(newRule) {}

/** What is not about one session: uploads, models, checks, examples, search and rules. */
@Controller('api')
export class ServerController {
  constructor(
    private readonly identity: Identity,
    private readonly workspaces: WorkspaceStore,
    private readonly blobs: BlobStore,
    private readonly models: ModelGateway,
    private readonly keys: ProviderKeys,
    private readonly sandboxes: SandboxService,
    private readonly mcp: McpServers,
    private readonly examples: Examples,
    private readonly searches: Search,
    private readonly rules: RulesStore,
    private readonly previews: RulePreviews,
    private readonly config: Config,
  ) {}

  /** Who the token is: a viewer is shown no buttons. */
  @Get('me')
  me(@Req() { headers }: Request): { role: Role | null } {
    return { role: this.identity.role(headers) ?? null };
  }

  @Post('workspaces')
  async uploadWorkspace(@Req() request: Request): Promise<{ workspace: string }> {
    return { workspace: await this.workspaces.upload(request) };
  }

  @Post('blobs')
  async uploadBlob(@Req() request: Request): Promise<{ blob: string }> {
    const stated = Number(request.headers['content-length'] ?? Number.NaN);
    if (!(stated <= maxBlobBytes)) {
      throw new AppError('too_large', 'A picture or file may have at most 16 MiB; say its length.');
    }
    const type = request.headers['content-type'] ?? '';
    return { blob: await this.blobs.put(await buffer(request), type) };
  }

  @Get('models')
  listModels(): Promise<ModelChoice[]> {
    return this.models.choices();
  }

  @Post('models/trial')
  @HttpCode(200)
  tryModel(@Body() { model }: TrialBody): Promise<Trial> {
    return this.models.trial(model);
  }

  @Get('providers')
  listProviders(): ProviderSetup[] {
    return this.keys.list();
  }

  @Put('providers/:provider')
  async setProvider(
    @Param() { provider }: ProviderParams,
    @Body() change: ProviderBody,
  ): Promise<ProviderSetup[]> {
    await this.models.setProvider(provider, change);
    return this.keys.list();
  }

  @Get('checks')
  async checks(): Promise<Check[]> {
    const sandboxes = await this.sandboxes.checks();
    return [...sandboxes, await diskCheck(this.config.data), ...this.mcp.checks()];
  }

  @Get('examples')
  listExamples(): Promise<Example[]> {
    return this.examples.list();
  }

  @Get('search')
  search(@Query() { q }: SearchQuery): Promise<Found[]> {
    return this.searches.find(q);
  }

  @Get('rules')
  listRules(): Promise<Rule[]> {
    return this.rules.list();
  }

  @Post('rules')
  createRule(@Body() body: RuleBody): Promise<Rule> {
    return this.rules.create(body);
  }

  @Post('rules/preview')
  @HttpCode(200)
  previewRule(@Body() body: RuleBody): Promise<RulePreview> {
    return this.previews.preview(body);
  }

  @Delete('rules/:rule')
  @HttpCode(204)
  removeRule(@Param('rule') rule: string): Promise<void> {
    return this.rules.remove(rule);
  }
}
