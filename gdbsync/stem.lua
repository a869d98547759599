-- What stem-hw gives to Neovim (0.7 and later): signs for the program's place and
-- for breakpoints, following across files, and commands that gdb carries out.
-- It is sent over Neovim's socket; the argument is the channel to answer on.
local channel = ...
local api, fn = vim.api, vim.fn
local M = package.loaded['stem-hw'] or { seen = 0, marks = {} }
package.loaded['stem-hw'] = M
M.channel = channel
M.seen = 0

local group = 'stem-hw'

fn.sign_define('StemPlace', { text = '=>', texthl = 'WarningMsg', linehl = 'CursorLine' })
fn.sign_define('StemBreakpoint', { text = '●', texthl = 'ErrorMsg' })
fn.sign_define('StemBreakpointOff', { text = '○', texthl = 'Comment' })

local function ask(op, path, line)
  if not M.channel or not pcall(vim.rpcnotify, M.channel, 'stem-hw', op, path or '', line or 0) then
    api.nvim_echo({ { 'stem-hw: gdb is not there', 'WarningMsg' } }, false, {})
  end
end

-- Somebody types: anything but resting in normal mode.
local function typing()
  local m = api.nvim_get_mode()
  return m.blocking or m.mode ~= 'n' and m.mode ~= 'nt'
end

local function plain(win)
  return api.nvim_win_get_config(win).relative == '' and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
end

-- The window that follows: the one that shows the file, the one that followed
-- last, the current one, any other; a new one if all are terminals and the like.
local function window(buf)
  local wins = api.nvim_tabpage_list_wins(0)
  local cur = api.nvim_get_current_win()
  if api.nvim_win_get_buf(cur) == buf then return cur end
  for _, w in ipairs(wins) do
    if api.nvim_win_get_buf(w) == buf and plain(w) then return w end
  end
  if M.win and api.nvim_win_is_valid(M.win) and vim.tbl_contains(wins, M.win) and plain(M.win) then return M.win end
  if plain(cur) then return cur end
  for _, w in ipairs(wins) do
    if plain(w) then return w end
  end
  vim.cmd('aboveleft split')
  return api.nvim_get_current_win()
end

-- The buffer of a file, loaded without a question about swap files.
local function buffer(path)
  if fn.filereadable(path) ~= 1 then return nil end
  local buf = fn.bufadd(path)
  if not api.nvim_buf_is_loaded(buf) then
    local short = vim.o.shortmess
    vim.o.shortmess = short .. 'A'
    pcall(fn.bufload, buf)
    vim.o.shortmess = short
  end
  if not api.nvim_buf_is_loaded(buf) then return nil end
  vim.bo[buf].buflisted = true
  return buf
end

local function place(buf, name, line, priority)
  local last = api.nvim_buf_line_count(buf)
  fn.sign_place(0, group, name, buf, { lnum = math.max(1, math.min(line, last)), priority = priority })
end

local function signs(v)
  fn.sign_unplace(group)
  local loaded = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) then loaded[api.nvim_buf_get_name(buf)] = buf end
  end
  for _, b in ipairs(v.breakpoints) do
    local buf = loaded[b.path]
    if buf then
      place(buf, b.enabled and 'StemBreakpoint' or 'StemBreakpointOff', b.line, 20)
    end
  end
  if v.path ~= '' and v.line > 0 then
    local buf = buffer(v.path)
    if buf then place(buf, 'StemPlace', v.line, 30) end
    return buf
  end
end

-- Bring the cursor to where the program stands.
function M.here()
  local v = M.view
  if not v or v.path == '' or v.line < 1 then
    api.nvim_echo({ { 'stem-hw: the program is ' .. (v and v.state or 'not there'), 'WarningMsg' } }, false, {})
    return
  end
  local buf = buffer(v.path)
  if not buf then
    api.nvim_echo({ { 'stem-hw: no such file here: ' .. v.path, 'WarningMsg' } }, false, {})
    return
  end
  local win = window(buf)
  if api.nvim_win_get_buf(win) ~= buf then
    if not pcall(api.nvim_win_set_buf, win, buf) then
      -- An option of the person's keeps that buffer in its window.
      vim.cmd('aboveleft split')
      win = api.nvim_get_current_win()
      api.nvim_win_set_buf(win, buf)
    end
  end
  M.win = win
  api.nvim_win_set_cursor(win, { math.min(v.line, api.nvim_buf_line_count(buf)), 0 })
  api.nvim_win_call(win, function() vim.cmd('silent! normal! zv') end)
  if not pcall(vim.cmd, 'doautocmd <nomodeline> User StemMoved') then return end
end

local function unchanged()
  local p = M.pending
  return p and api.nvim_buf_is_valid(p.buf) and api.nvim_buf_get_changedtick(p.buf) == p.tick
end

-- update takes a new state. It returns whether the cursor followed.
function M.update(v)
  if v.sequence < M.seen then return false end
  M.seen = v.sequence
  local old = M.view
  M.view = v
  local buf = signs(v)
  if not buf then
    M.pending = nil
    return false
  end
  if old and old.path == v.path and old.line == v.line and old.state == v.state and old.func == v.func and old.stop == v.stop and M.followed then
    return false -- only breakpoints or threads changed
  end
  if typing() then
    local cur = api.nvim_get_current_buf()
    M.followed = false
    M.pending = { buf = cur, tick = api.nvim_buf_get_changedtick(cur) }
    return false
  end
  M.pending, M.followed = nil, true
  M.here()
  return true
end

-- status is for a person's status line: "stopped main:12".
function M.status()
  local v = M.view
  if not v then return '' end
  if v.path == '' then return v.state end
  return v.state .. ' ' .. v.func .. ':' .. v.line
end

-- Where the person rests again without having changed anything, the cursor
-- follows after all.
local au = api.nvim_create_augroup('stem-hw', { clear = true })
api.nvim_create_autocmd({ 'InsertLeave', 'CmdlineLeave' }, {
  group = au,
  callback = function()
    vim.schedule(function()
      if M.pending and not typing() then
        local follow = unchanged()
        M.pending = nil
        if follow then M.followed = true; M.here() end
      end
    end)
  end,
})
-- Signs of breakpoints in a file that is opened later.
api.nvim_create_autocmd('BufReadPost', {
  group = au,
  callback = function() vim.schedule(function() if M.view then signs(M.view) end end) end,
})

local function command(name, f, desc) api.nvim_create_user_command(name, f, { desc = desc }) end
command('StemBreak', function()
  ask('break', api.nvim_buf_get_name(0), api.nvim_win_get_cursor(0)[1])
end, 'set or delete a breakpoint on this line')
command('StemUntil', function()
  ask('until', api.nvim_buf_get_name(0), api.nvim_win_get_cursor(0)[1])
end, 'run to this line')
for name, op in pairs({
  Step = 'step', Next = 'next', Finish = 'finish', Continue = 'continue', Interrupt = 'interrupt',
  StepInstruction = 'stepi', NextInstruction = 'nexti', Up = 'up', Down = 'down', Restart = 'restart',
}) do
  command('Stem' .. name, function() ask(op) end, 'gdb: ' .. op)
end
command('StemHere', function() M.here() end, 'go to where the program stands')
