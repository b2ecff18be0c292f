import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ProgramsModule } from '../programs/programs.module.js';
import { McpCalls } from './mcp-calls.js';
import { McpLogins } from './mcp-logins.store.js';
import { McpServers } from './mcp-servers.js';
import { McpStore } from './mcp.store.js';

@Module({
  imports: [ApprovalsModule, ProgramsModule],
  providers: [McpCalls, McpLogins, McpServers, McpStore],
  exports: [McpCalls, McpServers],
})
export class McpModule {}
