import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** CPU of all threads since the process started, and its resident memory now. */
export interface Usage {
  cpuSeconds: number;
  memoryMb: number;
}

/** The kernel reports CPU time in hundredths of a second on every platform. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 200;

/** @throws Error if there is no such process */
export function usageOf(pid: number): Usage {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

/** Fields 14 and 15 of `stat` are the time in user mode and in the kernel, see proc(5). */
function fromProc(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    memoryMb: Number(kilobytes) / 1024,
  };
}

/** The time is `[[DD-]HH:]MM:SS`, with hundredths of a second on macOS. */
function fromPs(pid: number): Usage {
  const shown = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' });
  const [time = '', kilobytes] = shown.trim().split(/\s+/);
  const [days, clock] = time.includes('-') ? (time.split('-') as [string, string]) : ['0', time];
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return { cpuSeconds: Number(days) * 86_400 + seconds, memoryMb: Number(kilobytes) / 1024 };
}

/** The memory of a process over time. */
export interface MemorySamples {
  /** MB. */
  peak(): number;
  /** All samples, oldest first, MB. */
  all(): readonly number[];
  stop(): void;
}

export function sampleMemory(pid: number): MemorySamples {
  const samples = [usageOf(pid).memoryMb];
  const timer = setInterval(() => {
    try {
      samples.push(usageOf(pid).memoryMb);
    } catch {
      clearInterval(timer);
    }
  }, SAMPLE_MS);
  return { peak: () => Math.max(...samples), all: () => samples, stop: () => clearInterval(timer) };
}
