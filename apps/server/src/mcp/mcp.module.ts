import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { McpCalls } from './mcp-calls.js';
import { McpLogins } from './mcp-logins.store.js';
import { McpServers } from './mcp-servers.js';
import { McpStore } from './mcp.store.js';
import { McpPrograms } from './program-runner.js';

@Module({
  imports: [ApprovalsModule],
  providers: [McpCalls, McpLogins, McpPrograms, McpServers, McpStore],
  exports: [McpCalls, McpPrograms, McpServers],
})
export class McpModule {}
