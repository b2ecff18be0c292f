import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { mcpServerChange, newMcpServer, type McpServer } from '@belay/protocol';
import { createZodDto } from 'nestjs-zod';
import { McpServers } from '../mcp/mcp-servers.js';

class NewServerBody extends createZodDto(newMcpServer) {}
class ServerChangeBody extends createZodDto(mcpServerChange) {}

/** The MCP servers that agents may use. Secrets go in and never come out. */
@Controller('api/mcp')
export class McpController {
  constructor(private readonly servers: McpServers) {}

  @Get()
  list(): McpServer[] {
    return this.servers.list();
  }

  @Post()
  create(@Body() body: NewServerBody): Promise<McpServer> {
    return this.servers.create(body);
  }

  @Patch(':name')
  change(@Param('name') name: string, @Body() body: ServerChangeBody): Promise<McpServer> {
    return this.servers.change(name, body);
  }

  @Post(':name/test')
  @HttpCode(200)
  test(@Param('name') name: string): Promise<McpServer> {
    return this.servers.test(name);
  }

  @Delete(':name')
  @HttpCode(204)
  remove(@Param('name') name: string): Promise<void> {
    return this.servers.remove(name);
  }
}
