"""What a query or a tool wants done: the family of its first verb.

Families let "show me all buckets" meet list_buckets: the words differ, the verb family does not.
"""

from collections.abc import Iterable
from functools import lru_cache

from toolcrib.text import is_unspaced, words

_FAMILIES = {
    "read": "get read show view fetch retrieve open display describe check inspect load download "
    "lookup tell obtain 读 读取 查看 获取 显示 打开 查询 下载 看",
    "list": "list enumerate browse all every 列出 列举 浏览 所有 全部",
    "search": "search find query locate discover grep lookup 搜索 查找 寻找 检索 搜 找",
    "create": "create make add new generate build insert 创建 新建 添加 生成 增加 建立 注册",
    "write": "write save store update edit modify change set replace rename put append upload "
    "写 写入 保存 更新 修改 编辑 设置 更改 上传",
    "delete": "delete remove drop erase clear destroy cancel 删除 移除 清除 清空 取消 卸载",
    "send": "send post notify message email mail publish share broadcast 发送 通知 发布 分享 发 寄",
    "run": "run execute invoke call launch start trigger deploy 运行 执行 调用 启动 触发 部署",
    "stop": "stop kill terminate shutdown pause disable close 停止 终止 关闭 暂停 禁用",
    "convert": "convert translate transform format parse encode decode 转换 翻译 转 格式化 解析",
    "calculate": "calculate compute count sum measure estimate predict 计算 统计 求 估算 预测",
    "compare": "compare diff validate verify analyze analyse 比较 对比 验证 分析",
}
_FAMILY_OF = {verb: family for family, verbs in _FAMILIES.items() for verb in verbs.split()}
LONGEST_CHINESE_VERB = 3


@lru_cache(maxsize=1 << 16)
def verb_family(text: str) -> str:
    """The family of the first verb in a name or a request; "" if it has none that is known."""
    families = (_family(word) for word in words(text))
    return next((family for family in families if family), "")


def starts_with_verb(some: Iterable[str]) -> bool:
    """Whether the first of these words is a known verb."""
    return any(_family(word) for word in list(some)[:1])


def _family(word: str) -> str:
    if not is_unspaced(word):
        return _FAMILY_OF.get(word, "")
    starts = (word[:length] for length in range(LONGEST_CHINESE_VERB, 0, -1))
    return next((_FAMILY_OF[start] for start in starts if start in _FAMILY_OF), "")
