import { capacityFor } from '../../../src/temporal/worker/capacity';

const GB = 1024 ** 3;

it.each([
  ['a small container', { cores: 1, memory: 0.5, heap: 0.25 }, [1, 291, 40, 128]],
  ['two cores', { cores: 2, memory: 4, heap: 2 }, [1, 1_000, 40, 500]],
  ['eight cores', { cores: 8, memory: 32, heap: 4 }, [4, 1_000, 160, 500]],
  ['many cores, up to a useful limit', { cores: 64, memory: 256, heap: 4 }, [4, 1_000, 160, 500]],
  ['very little memory', { cores: 1, memory: 0.1, heap: 0.05 }, [1, 100, 40, 100]],
])('the concurrency of a worker fits %s', (_, { cores, memory, heap }, expected) => {
  const fitting = capacityFor({ cores, memory: memory * GB, heap: heap * GB });
  expect(Object.entries(fitting)).toEqual([
    ['workflowThreadPoolSize', expected[0]],
    ['maxCachedWorkflows', expected[1]],
    ['maxConcurrentWorkflowTaskExecutions', expected[2]],
    ['maxConcurrentActivityTaskExecutions', expected[3]],
  ]);
});
