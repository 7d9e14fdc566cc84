#!/usr/bin/env node
import { main } from './main.ts'

process.exitCode = await main(process.argv.slice(2), {
  environment: process.env,
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
})
